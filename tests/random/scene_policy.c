/* The policy of a scene, drawn from the registry and from the tables of parameters, so that a new policy takes part at once. */
#include "scene.h"

#include "cluster/placement.h"
#include "policies/registry.h"

#include <math.h>
#include <string.h>

enum {
    WORK_MOST = 24, /* whole numbers are budgets of work as a rule: small ones, so that a scene takes a moment */
    LIST_MOST = 4,
};

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s", more);
}

static double clip(const struct param_spec *p, double v)
{
    bool has_range = p->min != 0 || p->max != 0;
    return !has_range ? v : v < p->min ? p->min : v > p->max ? p->max : v;
}

static bool is_named(const struct param_spec *p, const char *name)
{
    return strcmp(p->name, name) == 0;
}

static double draw_number(struct scene_dice *d, const struct param_spec *p)
{
    double def = 1;
    if (p->def != NULL)
        sscanf(p->def, "%lf", &def);
    uint32_t k = scene_roll(d, 20);
    if (k == 0)
        return clip(p, p->min);
    if (k == 1)
        return clip(p, p->max != 0 ? p->max : 1e6);
    if (k < 8)
        return clip(p, scene_roll(d, 5));
    return clip(p, (def != 0 ? def : 1) * scene_log(d, 0.1, 10));
}

static double draw_time(struct scene_dice *d, const struct param_spec *p, double scale_s)
{
    uint32_t k = scene_roll(d, 200);
    if (k == 0)
        return clip(p, p->min);
    if (k < 4)
        return clip(p, p->max);
    double v = clip(p, k < 150 ? scale_s * scene_log(d, 0.05, 10) : scene_log(d, 1, 100000));
    return k % 2 == 0 && v > 10 ? clip(p, floor(v)) : v;
}

static void draw_list(struct scene_dice *d, const struct param_spec *p, double scale_s, char out[256])
{
    uint32_t n = scene_roll(d, LIST_MOST + 1);
    double at = 0;
    char text[64];
    snprintf(out, 256, "[");
    for (uint32_t i = 0; i < n; i++) {
        at = clip(p, at + scale_s * scene_log(d, 0.1, 10));
        append(out, 256, i > 0 ? ", " : "");
        append(out, 256, scene_number(at, text));
    }
    append(out, 256, "]");
}

static void draw_choice(struct scene_dice *d, const struct param_spec *p, char out[256])
{
    uint32_t n = 1;
    for (const char *at = p->choices; (at = strchr(at, '|')) != NULL; at++)
        n++;
    const char *at = p->choices;
    for (uint32_t k = scene_roll(d, n); k > 0; k--)
        at = strchr(at, '|') + 1;
    snprintf(out, 256, "%.*s", (int)strcspn(at, "|"), at);
}

/* Who is entitled to what, of the users and virtual clusters that scenes have. */
static void draw_shares(struct scene *s, struct scene_dice *d)
{
    static const char *const names[] = {"u", "v", "w", "a", "b", "c", "group"};
    bool has_guarantee = strcmp(s->policy->name, "quota") == 0;
    snprintf(s->shares, sizeof s->shares, has_guarantee ? "name,weight,guarantee\n" : "name,weight\n");
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        char row[128], weight[64];
        if (scene_chance(d, 40))
            continue;
        scene_number(floor(scene_log(d, 0.2, 20) * 10) / 10, weight);
        if (strcmp(weight, "0") == 0)
            continue;
        if (has_guarantee)
            snprintf(row, sizeof row, "%s,%s,%u\n", names[i], weight, scene_roll(d, 4));
        else
            snprintf(row, sizeof row, "%s,%s\n", names[i], weight);
        append(s->shares, sizeof s->shares, row);
    }
}

static void draw_sample(struct scene *s, struct scene_dice *d, double scale_s)
{
    snprintf(s->sample, sizeof s->sample, "duration\n");
    for (uint32_t n = 1 + scene_roll(d, 20); n > 0; n--) {
        char text[64], row[80];
        snprintf(row, sizeof row, "%s\n", scene_number(scale_s * scene_log(d, 0.1, 10), text));
        append(s->sample, sizeof s->sample, row);
    }
}

/* The value as YAML; false: leave the default. */
static bool draw_value(struct scene *s, struct scene_dice *d, const struct param_spec *p, double scale_s, char out[256])
{
    if (is_named(p, "budget_ms")) /* goes with `deterministic: false` */
        return false;
    bool wants_small = p->type == PARAM_INT && p->def != NULL && strlen(p->def) < 12 && clip(p, WORK_MOST) == WORK_MOST;
    long long def = 0;
    char text[64];
    if (wants_small)
        wants_small = sscanf(p->def, "%lld", &def) == 1 && def > WORK_MOST;
    if (p->def != NULL && !wants_small && scene_chance(d, 45))
        return false;
    switch (p->type) {
    case PARAM_INT:
        snprintf(out, 256, "%lld", (long long)clip(p, floor(scene_log(d, 1, WORK_MOST)) - scene_roll(d, 2)));
        return true;
    case PARAM_NUMBER:
        snprintf(out, 256, "%s", scene_number(draw_number(d, p), text));
        return true;
    case PARAM_TIME:
        snprintf(out, 256, "%s", scene_number(draw_time(d, p, scale_s), text));
        return true;
    case PARAM_BOOL: /* with `deterministic: false` a scene need not be the same twice */
        snprintf(out, 256, "%s", is_named(p, "deterministic") || scene_chance(d, 50) ? "true" : "false");
        return true;
    case PARAM_CHOICE:
        draw_choice(d, p, out);
        return true;
    case PARAM_NUMBERS:
        draw_list(d, p, scale_s, out);
        return true;
    case PARAM_TEXT:
        if (!is_named(p, "weights"))
            return false;
        snprintf(out, 256, "\"u=%u, v=0.5, *=%u\"", 1 + scene_roll(d, 5), 1 + scene_roll(d, 3));
        return true;
    case PARAM_PATH:
        if (is_named(p, "shares"))
            draw_shares(s, d);
        else if (is_named(p, "file"))
            draw_sample(s, d, scale_s);
        else
            return false;
        snprintf(out, 256, is_named(p, "shares") ? "shares.csv" : "sample.csv");
        return true;
    }
    return false;
}

static bool has_text(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* Parts that braid refuses to put together. A few are left: refusals are to be seen as well. */
static bool is_refused(const struct scene *s)
{
    const char *text = s->policy_text, *name = s->policy->name;
    bool is_composed = text[1] != 'n',
         has_preempt = has_text(text, "preempt: when_better") || has_text(text, "preempt: quantum");
    bool takes_turns = has_text(text, "round_robin") || has_text(text, "rr_sjf");
    bool has_order = has_text(text, ", order: ") && strcmp(name, "time_window") != 0;
    bool may_admit = is_composed || strcmp(name, "edf") == 0 || strcmp(name, "least_laxity") == 0;
    return (has_text(text, "fill: easy") &&
            (has_preempt || (policy_preempts(s->policy) && !has_text(text, "preempt: never")))) ||
           (takes_turns && has_text(text, "preempt: when_better")) ||
           (has_text(text, "admission: feasible") && !may_admit) || (!is_composed && has_order) ||
           (has_text(text, "borrow: false") && s->shares[0] == '\0') ||
           (has_text(text, "source: file") && s->sample[0] == '\0');
}

static void draw_params(struct scene *s, struct scene_dice *d, double scale_s)
{
    bool is_composed = strcmp(s->policy->name, "compose") == 0;
    uint32_t written = 0;
    s->shares[0] = s->sample[0] = '\0';
    snprintf(s->policy_text, sizeof s->policy_text, is_composed ? "{" : "{name: %s", s->policy->name);
    for (size_t i = 0; i < s->policy->n_params; i++) {
        const struct param_spec *p = &s->policy->params[i];
        char value[256], item[400];
        bool is_order = is_composed && strcmp(p->name, "order") == 0; /* one part at least */
        if (is_order)
            draw_choice(d, p, value);
        else if (!draw_value(s, d, p, scale_s, value))
            continue;
        snprintf(item, sizeof item, "%s%s: %s", is_composed && written == 0 ? "" : ", ", p->name, value);
        written++;
        append(s->policy_text, sizeof s->policy_text, item);
    }
    append(s->policy_text, sizeof s->policy_text, "}");
}

void scene_draw_policy(struct scene *s, struct scene_dice *d, double scale_s)
{
    size_t n = 0;
    while (policy_list()[n] != NULL)
        n++;
    s->policy = scene_chance(d, 15) ? policy_find("compose") : policy_list()[scene_roll(d, (uint32_t)n)];
    do
        draw_params(s, d, scale_s);
    while (is_refused(s) && !scene_chance(d, 1));
    bool is_own = has_text(s->policy_text, "fill:") || has_text(s->policy_text, ", order:") ||
                  has_text(s->policy_text, "preempt:") || has_text(s->policy_text, "feasible");
    s->is_fifo = !is_own && strcmp(s->policy->name, "fifo") == 0;
    s->fills_easy = !is_own && strcmp(s->policy->name, "easy") == 0;

    size_t n_places = 0;
    while (placement_list()[n_places] != NULL)
        n_places++;
    const struct placement_ops *where = placement_list()[scene_roll(d, (uint32_t)n_places)];
    bool is_judged = (s->is_fifo || s->fills_easy) && scene_chance(d, 50); /* by where jobs go it is easier without */
    if (is_judged || strcmp(s->policy->name, "optimal") == 0)              /* it counts GPUs, no more */
        where = placement_find("count");
    s->placement = where->name;
    snprintf(s->placement_text, sizeof s->placement_text, "{name: %s", where->name);
    for (size_t i = 0; i < where->n_params; i++) {
        const struct param_spec *p = &where->params[i];
        char value[256], item[320];
        if (strcmp(p->name, "weights") == 0 || !draw_value(s, d, p, scale_s, value))
            continue;
        snprintf(item, sizeof item, ", %s: %s", p->name, value);
        append(s->placement_text, sizeof s->placement_text, item);
    }
    append(s->placement_text, sizeof s->placement_text, "}");
}
