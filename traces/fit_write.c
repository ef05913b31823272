#include "base/config_text.h"
#include "traces/fit.h"
#include "traces/writer_file.h"

#include <inttypes.h>
#include <math.h>

static void put_key(struct config_text *t, const char *key, double v)
{
    config_text_format(t, "%s: ", key);
    config_text_number(t, v);
    config_text_put(t, "\n");
}

/* Six digits of it: a measured share has no more. */
static double rounded(double v)
{
    double scale = v > 0 ? pow(10, 5 - floor(log10(v))) : 1;
    return round(v * scale) / scale;
}

static void put_arrivals(struct config_text *t, const struct profile *p)
{
    static const char *const days[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
    if (p->has_origin)
        config_text_format(t, "origin: %" PRId64 "   # UTC second of a Monday, 0 h\n", p->origin_utc_s);
    config_text_put(t, "week:   # jobs of the hours of a day, relative to each other\n");
    for (int day = 0; day < 7; day++) {
        config_text_format(t, "  %s: [", days[day]);
        for (int hour = 0; hour < 24; hour++) {
            config_text_put(t, hour > 0 ? ", " : "");
            config_text_number(t, rounded(p->week_jobs[day * 24 + hour]));
        }
        config_text_put(t, "]\n");
    }
}

static void put_classes(struct config_text *t, const struct profile *p)
{
    config_text_put(t, "classes:   # of sizes; knots: [share of the jobs, seconds that they do not exceed]\n");
    for (uint32_t c = 0; c < p->n_classes; c++) {
        const struct profile_class *class = &p->classes[c];
        config_text_format(t, "  - gpus_from: %" PRIu32 "\n    states:\n", class->gpus_from);
        for (uint32_t b = 0; b < class->n_bands; b++) {
            config_text_put(t, "      - {to: ");
            config_text_number(t, class->bands[b].to);
            config_text_put(t, ", passed: ");
            config_text_number(t, rounded(class->bands[b].passed));
            config_text_put(t, ", failed: ");
            config_text_number(t, rounded(class->bands[b].failed));
            config_text_put(t, ", killed: ");
            config_text_number(t, rounded(class->bands[b].killed));
            config_text_put(t, "}\n");
        }
        config_text_put(t, "    knots: [");
        for (uint32_t k = 0; k < class->n_knots; k++) {
            config_text_put(t, k > 0 ? (k % 10 == 0 ? ",\n            [" : ", [") : "[");
            config_text_number(t, class->knots[k].u);
            config_text_put(t, ", ");
            config_text_number(t, class->knots[k].seconds);
            config_text_put(t, "]");
        }
        config_text_put(t, "]\n");
    }
}

static void compose(struct config_text *t, const struct profile *p, const char *source)
{
    config_text_format(t, "# A model for braid's generator, measured from a trace by 'braid trace fit': trace: "
                          "{generate: {file: THIS}}\nsource: ");
    config_text_scalar(t, source);
    config_text_put(t, "\nbraid_model: 1\n");
    put_key(t, "rate_per_day", rounded(p->rate_per_day));
    put_arrivals(t, p);
    put_key(t, "burst", p->burst);
    put_key(t, "repeat", p->repeat);
    put_key(t, "alike", p->alike);
    config_text_format(t, "users: %" PRIu32 "\n", p->users);
    put_key(t, "user_exponent", p->user_exponent);
    put_key(t, "vc_exponent", p->vc_exponent);
    config_text_put(t, "vcs:   # jobs of each virtual cluster\n");
    for (uint32_t i = 0; i < p->vcs; i++) {
        config_text_put(t, "  ");
        config_text_scalar(t, p->vc_shares[i].name);
        config_text_put(t, ": ");
        config_text_number(t, p->vc_shares[i].jobs);
        config_text_put(t, "\n");
    }
    config_text_put(t, "sizes:   # GPUs: jobs\n");
    for (uint32_t i = 0; i < p->n_sizes; i++) {
        config_text_format(t, "  %" PRIu32 ": ", p->sizes[i].gpus);
        config_text_number(t, p->sizes[i].jobs);
        config_text_put(t, "\n");
    }
    put_classes(t, p);
}

static void put_text(struct writer *out, void *self)
{
    const struct config_text *t = self;
    writer_put(out, t->s, t->n);
}

int fit_write(const struct profile *p, const char *source, const char *path, struct error *err)
{
    struct config_text text;
    config_text_init(&text);
    compose(&text, p, source);
    int code = text.is_short ? error_set(err, BRAID_FAILED, "out of memory while writing %s", path)
                             : writer_write(path, put_text, &text, err);
    config_text_fini(&text);
    return code;
}
