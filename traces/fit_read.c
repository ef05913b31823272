#include "base/config_tree.h"
#include "base/names.h"
#include "base/number.h"
#include "traces/fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares may be rounded to six digits. */
#define SHARE_SLACK 1e-4

static int fail_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory while reading a model");
}

static int read_number(const struct config_node *node, const char *what, double least, double most, double *out,
                       struct error *err)
{
    double v;
    if (node->kind != CONFIG_SCALAR || !number_parse_double(node->text, strlen(node->text), &v))
        return config_fail(err, node->place, "%s must be a number%s%s%s", what,
                           node->kind == CONFIG_SCALAR ? ", not '" : "", node->kind == CONFIG_SCALAR ? node->text : "",
                           node->kind == CONFIG_SCALAR ? "'" : "");
    if (!(v >= least && v <= most))
        return config_fail(err, node->place, "%s must be from %g to %g, not %g", what, least, most, v);
    *out = v;
    return BRAID_OK;
}

static int read_count(const struct config_node *node, const char *what, uint32_t most, uint32_t *out, struct error *err)
{
    double v = 0;
    int code = read_number(node, what, 1, most, &v, err);
    if (code == BRAID_OK && v > floor(v))
        return config_fail(err, node->place, "%s must be a whole number, not %g", what, v);
    *out = (uint32_t)v;
    return code;
}

static int expect_kind(const struct config_node *node, enum config_kind kind, const char *what, struct error *err)
{
    if (node->kind == kind && (kind == CONFIG_SCALAR || node->n > 0))
        return BRAID_OK;
    return config_fail(err, node->place, "%s must be %s", what,
                       kind == CONFIG_MAP ? "a map with something in it" : "a list with something in it");
}

static int expect_some(const struct config_node *node, const char *what, double total, struct error *err)
{
    return total > 0 ? BRAID_OK : config_fail(err, node->place, "%s: all of it is 0", what);
}

/* ---- the parts of a model ---------------------------------------------------------------------------- */

struct reading {
    struct profile *p;
    struct arena *a;
    struct error *err;
};

static int read_week(struct reading *r, const struct config_node *node)
{
    static const char *const days[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
    double *week = ARENA_NEW(r->a, double, PROFILE_HOURS), total = 0;
    if (week == NULL)
        return fail_memory(r->err);
    int code = expect_kind(node, CONFIG_MAP, "'week'", r->err);
    for (int d = 0; d < 7 && code == BRAID_OK; d++) {
        const struct config_item *day = config_tree_find(node, days[d]);
        if (day == NULL || node->n != 7)
            return config_fail(r->err, node->place,
                               "'week' must have the seven days from monday to sunday and nothing else");
        if (day->value->kind != CONFIG_LIST || day->value->n != 24)
            return config_fail(r->err, day->value->place, "'week.%s' must be a list of 24 numbers", days[d]);
        for (uint32_t h = 0; h < 24 && code == BRAID_OK; h++) {
            double *jobs = &week[d * 24 + (int)h];
            code = read_number(day->value->items[h].value, "the jobs of an hour", 0, 1e15, jobs, r->err);
            total += *jobs;
        }
    }
    r->p->week_jobs = week;
    return code != BRAID_OK ? code : expect_some(node, "'week'", total, r->err);
}

static int compare_shares(const void *a, const void *b)
{
    const char *x = ((const struct profile_share *)a)->name, *y = ((const struct profile_share *)b)->name;
    return text_compare_natural(x, strlen(x), y, strlen(y));
}

static int read_vcs(struct reading *r, const struct config_node *node)
{
    int code = expect_kind(node, CONFIG_MAP, "'vcs'", r->err);
    if (code != BRAID_OK)
        return code;
    if (node->n > PROFILE_VCS_MAX)
        return config_fail(r->err, node->place, "'vcs' has %" PRIu32 " virtual clusters; at most %d are taken", node->n,
                           (int)PROFILE_VCS_MAX);
    struct profile_share *shares = ARENA_NEW(r->a, struct profile_share, node->n);
    double total = 0;
    for (uint32_t i = 0; shares != NULL && i < node->n && code == BRAID_OK; i++) {
        shares[i].name = node->items[i].key;
        code = read_number(node->items[i].value, "the jobs of a virtual cluster", 0, 1e15, &shares[i].jobs, r->err);
        total += shares[i].jobs;
    }
    if (shares == NULL)
        return fail_memory(r->err);
    if (code != BRAID_OK)
        return code;
    qsort(shares, node->n, sizeof *shares, compare_shares);
    r->p->vcs = node->n;
    r->p->vc_shares = shares;
    return expect_some(node, "'vcs'", total, r->err);
}

static int read_sizes(struct reading *r, const struct config_node *node)
{
    int code = expect_kind(node, CONFIG_MAP, "'sizes'", r->err);
    if (code != BRAID_OK)
        return code;
    if (node->n > PROFILE_SIZES_MAX)
        return config_fail(r->err, node->place, "'sizes' has %" PRIu32 " numbers of GPUs; at most %d are taken",
                           node->n, (int)PROFILE_SIZES_MAX);
    struct profile_size *sizes = ARENA_NEW(r->a, struct profile_size, node->n);
    if (sizes == NULL)
        return fail_memory(r->err);
    double total = 0;
    for (uint32_t i = 0; i < node->n && code == BRAID_OK; i++) {
        const struct config_item *item = &node->items[i];
        uint64_t gpus;
        if (!number_parse_u64(item->key, strlen(item->key), &gpus) || gpus == 0 || gpus > 1u << 24)
            return config_fail(r->err, item->key_place, "'%s' is not a number of GPUs", item->key);
        if (i > 0 && gpus <= sizes[i - 1].gpus)
            return config_fail(r->err, item->key_place, "the numbers of GPUs must ascend, and %s does not", item->key);
        sizes[i].gpus = (uint32_t)gpus;
        code = read_number(item->value, "the jobs of a number of GPUs", 0, 1e15, &sizes[i].jobs, r->err);
        total += sizes[i].jobs;
    }
    r->p->sizes = sizes;
    r->p->n_sizes = node->n;
    return code != BRAID_OK ? code : expect_some(node, "'sizes'", total, r->err);
}

static int read_band(struct reading *r, const struct config_node *node, struct profile_band *band, double from)
{
    const struct {
        const char *key;
        double *to;
    } parts[] = {{"to", &band->to}, {"passed", &band->passed}, {"failed", &band->failed}, {"killed", &band->killed}};
    int code = BRAID_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && code == BRAID_OK; i++) {
        const struct config_item *item = config_tree_find(node, parts[i].key);
        if (item == NULL || node->n != sizeof parts / sizeof parts[0])
            return config_fail(r->err, node->place,
                               "a band of states has 'to', 'passed', 'failed' and 'killed', no more and no less");
        code = read_number(item->value, "a share", 0, 1, parts[i].to, r->err);
    }
    if (code != BRAID_OK)
        return code;
    if (!(band->to > from))
        return config_fail(r->err, node->place, "'to' must be more than that of the band before, %g", from);
    double sum = band->passed + band->failed + band->killed;
    if (!(fabs(sum - 1) <= SHARE_SLACK))
        return config_fail(r->err, node->place, "the shares of the states add up to %g, not to 1", sum);
    return BRAID_OK;
}

static int read_states(struct reading *r, const struct config_node *node, struct profile_class *c)
{
    int code = expect_kind(node, CONFIG_LIST, "'states'", r->err);
    if (code != BRAID_OK)
        return code;
    if (node->n > PROFILE_BANDS_MAX)
        return config_fail(r->err, node->place, "'states' has %" PRIu32 " bands; at most %d are taken", node->n,
                           (int)PROFILE_BANDS_MAX);
    for (uint32_t i = 0; i < node->n && code == BRAID_OK; i++)
        code = read_band(r, node->items[i].value, &c->bands[i], i > 0 ? c->bands[i - 1].to : 0);
    c->n_bands = node->n;
    if (code == BRAID_OK && c->bands[node->n - 1].to < 1)
        return config_fail(r->err, node->place, "the last band of 'states' must go up to 1");
    return code;
}

static int read_knots(struct reading *r, const struct config_node *node, struct profile_class *c)
{
    int code = expect_kind(node, CONFIG_LIST, "'knots'", r->err);
    if (code != BRAID_OK)
        return code;
    if (node->n < 2 || node->n > PROFILE_KNOTS_MAX)
        return config_fail(r->err, node->place, "'knots' has %" PRIu32 " entries; from 2 to %d are taken", node->n,
                           (int)PROFILE_KNOTS_MAX);
    struct profile_knot *knots = ARENA_NEW(r->a, struct profile_knot, node->n);
    if (knots == NULL)
        return fail_memory(r->err);
    for (uint32_t i = 0; i < node->n && code == BRAID_OK; i++) {
        const struct config_node *pair = node->items[i].value;
        if (pair->kind != CONFIG_LIST || pair->n != 2)
            return config_fail(r->err, pair->place, "a knot is a list of two: share, seconds");
        double least = i > 0 ? knots[i - 1].seconds : 0;
        code = read_number(pair->items[0].value, "the share of a knot", i > 0 ? knots[i - 1].u : 0, i == 0 ? 0 : 1,
                           &knots[i].u, r->err);
        if (code == BRAID_OK)
            code = read_number(pair->items[1].value, "the seconds of a knot", least, PROFILE_SECONDS_MAX,
                               &knots[i].seconds, r->err);
    }
    if (code == BRAID_OK && knots[node->n - 1].u < 1)
        return config_fail(r->err, node->place, "the last of 'knots' must be that of share 1");
    c->knots = knots;
    c->n_knots = node->n;
    return code;
}

static int read_class(struct reading *r, const struct config_node *node, struct profile_class *c, uint32_t least)
{
    const struct config_item *from = config_tree_find(node, "gpus_from"), *knots = config_tree_find(node, "knots");
    const struct config_item *states = config_tree_find(node, "states");
    if (from == NULL || knots == NULL || node->n != 2u + (states != NULL))
        return config_fail(r->err, node->place, "a class has 'gpus_from', 'knots', perhaps 'states', and nothing else");
    int code = read_count(from->value, "'gpus_from'", 1u << 24, &c->gpus_from, r->err);
    if (code == BRAID_OK && c->gpus_from < least)
        return config_fail(r->err, from->value->place, "'gpus_from' must ascend from class to class");
    if (code == BRAID_OK)
        code = read_knots(r, knots->value, c);
    if (code == BRAID_OK && states != NULL)
        code = read_states(r, states->value, c);
    return code;
}

static int read_classes(struct reading *r, const struct config_node *node)
{
    int code = expect_kind(node, CONFIG_LIST, "'classes'", r->err);
    if (code != BRAID_OK)
        return code;
    if (node->n > PROFILE_CLASSES_MAX)
        return config_fail(r->err, node->place, "'classes' has %" PRIu32 " entries; at most %d are taken", node->n,
                           (int)PROFILE_CLASSES_MAX);
    struct profile_class *classes = ARENA_NEW(r->a, struct profile_class, node->n);
    if (classes == NULL)
        return fail_memory(r->err);
    for (uint32_t i = 0; i < node->n && code == BRAID_OK; i++) {
        code = read_class(r, node->items[i].value, &classes[i], i > 0 ? classes[i - 1].gpus_from + 1 : 1);
        if (code == BRAID_OK)
            r->p->longest_s = fmax(r->p->longest_s, classes[i].knots[classes[i].n_knots - 1].seconds);
    }
    r->p->classes = classes;
    r->p->n_classes = node->n;
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------------ */

static int read_rate(struct reading *r, const struct config_node *node)
{
    return read_number(node, "'rate_per_day'", 1e-6, 1e12, &r->p->rate_per_day, r->err);
}

static int read_origin(struct reading *r, const struct config_node *node)
{
    double second = 0;
    int code = read_number(node, "'origin'", 0, (double)INT64_C(7258118400), &second, r->err);
    r->p->origin_utc_s = (int64_t)second;
    r->p->has_origin = true;
    return code;
}

static int read_burst(struct reading *r, const struct config_node *node)
{
    return read_number(node, "'burst'", 1, PROFILE_BURST_MAX, &r->p->burst, r->err);
}

static int read_repeat(struct reading *r, const struct config_node *node)
{
    return read_number(node, "'repeat'", 0, 1, &r->p->repeat, r->err);
}

static int read_alike(struct reading *r, const struct config_node *node)
{
    return read_number(node, "'alike'", 0, 1, &r->p->alike, r->err);
}

static int read_users(struct reading *r, const struct config_node *node)
{
    return read_count(node, "'users'", PROFILE_USERS_MAX, &r->p->users, r->err);
}

static int read_user_exponent(struct reading *r, const struct config_node *node)
{
    return read_number(node, "'user_exponent'", 0, 10, &r->p->user_exponent, r->err);
}

static int read_vc_exponent(struct reading *r, const struct config_node *node)
{
    return read_number(node, "'vc_exponent'", 0, 10, &r->p->vc_exponent, r->err);
}

static int read_version(struct reading *r, const struct config_node *node)
{
    double version = 0;
    return read_number(node, "'braid_model'", 1, 1, &version, r->err);
}

static int read_source(struct reading *r, const struct config_node *node)
{
    return expect_kind(node, CONFIG_SCALAR, "'source'", r->err);
}

static const struct {
    const char *key;
    bool is_optional;
    int (*read)(struct reading *r, const struct config_node *node);
} parts[] = {
    {"braid_model", false, read_version},
    {"source", true, read_source},
    {"rate_per_day", false, read_rate},
    {"origin", true, read_origin},
    {"week", false, read_week},
    {"burst", false, read_burst},
    {"repeat", false, read_repeat},
    {"alike", false, read_alike},
    {"users", false, read_users},
    {"user_exponent", false, read_user_exponent},
    {"vc_exponent", false, read_vc_exponent},
    {"vcs", false, read_vcs},
    {"sizes", false, read_sizes},
    {"classes", false, read_classes},
};
enum { N_PARTS = sizeof parts / sizeof parts[0] };

static int refuse_unknown(const struct config_node *root, struct error *err)
{
    const char *keys[N_PARTS];
    for (size_t i = 0; i < N_PARTS; i++)
        keys[i] = parts[i].key;
    for (uint32_t k = 0; k < root->n; k++) {
        size_t i = 0;
        while (i < N_PARTS && strcmp(root->items[k].key, keys[i]) != 0)
            i++;
        if (i < N_PARTS)
            continue;
        const char *near = text_nearest(root->items[k].key, keys, N_PARTS);
        return config_fail(err, root->items[k].key_place, "a model has no '%s'%s%s%s", root->items[k].key,
                           near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    return BRAID_OK;
}

int fit_read(struct profile *out, struct arena *a, const char *path, const char *shown, struct error *err)
{
    *out = (struct profile){0};
    const struct config_node *root = config_tree_load(a, path, shown, err);
    if (root == NULL)
        return err->code;
    if (root->kind != CONFIG_MAP || config_tree_find(root, "braid_model") == NULL)
        return config_fail(
            err, root->place,
            "this is no model: 'braid_model' is missing; 'braid trace fit TRACE -o MODEL.yaml' makes one");
    struct reading r = {.p = out, .a = a, .err = err};
    int code = refuse_unknown(root, err);
    for (size_t i = 0; i < N_PARTS && code == BRAID_OK; i++) {
        const struct config_item *item = config_tree_find(root, parts[i].key);
        if (item != NULL)
            code = parts[i].read(&r, item->value);
        else if (!parts[i].is_optional)
            return config_fail(err, root->place, "the model lacks '%s'", parts[i].key);
    }
    return code;
}
