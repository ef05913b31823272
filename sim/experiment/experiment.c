#include "experiment/experiment.h"

#include "experiment/config_fill.h"
#include "experiment/sweep.h"
#include "policies/registry.h"

#include <string.h>

struct load {
    struct experiment *x;
    struct config_fill fill;
    struct sweep sweep;
    const struct config_node *root;
    struct config_place sweep_place;
    struct names seen; /* digest of each run's config */
    struct error *err;
};

static int short_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory while reading the config");
}

/* ---- --set ------------------------------------------------------------------------------------- */

/* Put one value into the tree. Setting a swept key replaces its sweep; `sweep.KEY` sets the values of KEY's sweep. */
static int apply_value(struct load *l, const char *key, struct config_place place, const struct config_node *value)
{
    struct arena *a = &l->x->arena;
    const struct config_item *item = config_tree_find(l->root, "sweep");
    const struct config_node *sweep = item != NULL ? item->value : NULL;
    static const struct config_node no_sweep = {.kind = CONFIG_MAP};
    if (strncmp(key, "sweep.", 6) == 0) {
        if (sweep != NULL && sweep->kind != CONFIG_MAP)
            return config_fail(l->err, place, "'%s' cannot be set: 'sweep' is not a map", key);
        const struct config_node *with = config_tree_put(a, sweep != NULL ? sweep : &no_sweep, key + 6, place, value);
        if (with != NULL)
            l->root = config_tree_put(a, l->root, "sweep", place, with);
        return with != NULL && l->root != NULL ? BRAID_OK : short_of_memory(l->err);
    }
    if (config_tree_find(sweep, key) != NULL) {
        const struct config_node *less = config_tree_without(a, sweep, key);
        if (less == NULL || (l->root = config_tree_put(a, l->root, "sweep", item->key_place, less)) == NULL)
            return short_of_memory(l->err);
    }
    for (uint32_t i = 0; sweep != NULL && sweep->kind == CONFIG_MAP && i < sweep->n; i++) {
        const char *axis = sweep->items[i].key;
        size_t n = strlen(axis);
        if (strncmp(key, axis, n) == 0 && key[n] == '.')
            return config_fail(l->err, place,
                               "'%s' would be undone by the sweep of '%s'; set '%s', or write it in the sweep", key,
                               axis, axis);
    }
    l->root = config_tree_set(a, l->root, key, place, value, config_short_key, l->err);
    return l->root != NULL ? BRAID_OK : l->err->code;
}

static int apply_override(struct load *l, const char *text)
{
    static const char prefix[] = "--set ";
    struct arena *a = &l->x->arena;
    size_t n = strlen(text);
    char *shown = arena_alloc(a, sizeof prefix + n, 1);
    const char *equals = strchr(text, '=');
    if (shown == NULL)
        return short_of_memory(l->err);
    memcpy(shown, prefix, sizeof prefix - 1);
    memcpy(shown + sizeof prefix - 1, text, n);
    const struct config_place place = {shown, 0, 0};
    if (equals == NULL || equals == text)
        return config_fail(l->err, place, "wants KEY=VALUE, such as trace.load=0.9");
    const char *key = arena_text(a, text, (size_t)(equals - text));
    if (key == NULL)
        return short_of_memory(l->err);
    const struct config_node *value = config_tree_parse(a, equals + 1, strlen(equals + 1), place, l->err);
    return value != NULL ? apply_value(l, key, place, value) : l->err->code;
}

/* ---- labels ------------------------------------------------------------------------------------- */

/* The name that a policy of a sweep goes by unless it has a label; NULL for those that see to it themselves. */
static const char *plain_name(const struct config_node *policy)
{
    const struct config_item *name = config_tree_find(policy, "name");
    if (config_tree_find(policy, "label") != NULL)
        return NULL;
    const struct config_node *text = name != NULL ? name->value : policy;
    return text->kind == CONFIG_SCALAR ? text->text : NULL;
}

/* "tiresias thresholds=[3250, 7200]" */
static const struct config_node *label_node(struct load *l, const struct policy_ops *ops,
                                            const struct config_node *policy)
{
    struct config_text t;
    config_text_init(&t);
    config_text_put(&t, ops->name);
    for (size_t i = 0; i < ops->n_params; i++) {
        const struct config_item *item = config_tree_find(policy, ops->params[i].name);
        if (item == NULL)
            continue;
        config_text_format(&t, " %.80s=", item->key);
        config_text_node(&t, item->value);
    }
    struct config_node *label = ARENA_NEW(&l->x->arena, struct config_node, 1);
    if (label != NULL) {
        *label = (struct config_node){.kind = CONFIG_SCALAR, .is_quoted = true, .place = policy->place};
        label->text = t.is_short ? NULL : arena_text(&l->x->arena, t.s, t.n);
    }
    config_text_fini(&t);
    return label != NULL && label->text != NULL ? label : NULL;
}

/* How many policies of the axis go by each name: counts[i] for the name of policy i. False: memory is out. */
static bool count_names(struct load *l, const struct sweep_axis *axis, uint32_t *counts)
{
    struct names names;
    uint32_t *by_name = ARENA_NEW(&l->x->arena, uint32_t, axis->n);
    bool ok = by_name != NULL;
    names_init(&names);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < axis->n && ok; i++) {
            const char *name = plain_name(axis->values[i].value);
            uint32_t id = name != NULL ? names_add(&names, name, strlen(name)) : 0;
            ok = id != NAMES_NONE;
            if (ok && name != NULL)
                counts[i] = pass == 0 ? ++by_name[id] : by_name[id];
        }
    names_fini(&names);
    return ok;
}

/* Variants of one policy in a sweep would all be called by its name: call those with parameters by these as well. */
static int label_variants(struct load *l)
{
    struct sweep_axis *axis = NULL;
    for (uint32_t i = 0; i < l->sweep.n_axes; i++)
        if (strcmp(l->sweep.axes[i].key, "policy") == 0)
            axis = &l->sweep.axes[i];
    if (axis == NULL)
        return BRAID_OK;
    struct config_item *items = ARENA_NEW(&l->x->arena, struct config_item, axis->n);
    uint32_t *counts = ARENA_NEW(&l->x->arena, uint32_t, axis->n);
    if (items == NULL || counts == NULL || !count_names(l, axis, counts))
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < axis->n; i++) {
        const struct config_node *policy = axis->values[i].value;
        items[i] = axis->values[i];
        if (counts[i] < 2 || policy->kind != CONFIG_MAP)
            continue;
        const struct policy_ops *ops = policy_find(plain_name(policy));
        if (ops == NULL) /* a name that is not known is an error once the run is filled */
            continue;
        const struct config_node *label = label_node(l, ops, policy);
        items[i].value = label != NULL ? config_tree_put(&l->x->arena, policy, "label", policy->place, label) : NULL;
        if (items[i].value == NULL)
            return short_of_memory(l->err);
    }
    axis->values = items;
    return BRAID_OK;
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* Two equal runs would be one row of the results: refuse them while the reason is at hand. */
static int check_new(struct load *l, const struct run_config *run)
{
    struct digest d;
    uint8_t bytes[DIGEST_BYTES];
    digest_init(&d);
    digest_add_bytes(&d, run->yaml, strlen(run->yaml));
    digest_final(&d, bytes);
    char hex[DIGEST_HEX + 1];
    digest_hex(bytes, DIGEST_BYTES, hex);
    uint32_t id = names_add(&l->seen, hex, DIGEST_HEX);
    if (id == NAMES_NONE)
        return short_of_memory(l->err);
    if (id == run->index)
        return BRAID_OK;
    return config_fail(l->err, l->sweep_place,
                       "runs %u and %u of the sweep come out the same: a swept key does not count in "
                       "them; sweep the section as a whole instead",
                       id, run->index);
}

static int add_run(void *self, const struct config_node *root, uint32_t index, const uint32_t *at)
{
    struct load *l = self;
    struct run_config *run = &l->x->runs[index];
    struct swept *swept = ARENA_NEW(&l->x->arena, struct swept, l->sweep.n_axes);
    if (swept == NULL)
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < l->sweep.n_axes; i++)
        swept[i] = (struct swept){l->sweep.axes[i].key, l->sweep.axes[i].texts[at[i]]};
    run->index = index;
    run->swept = swept;
    run->n_swept = l->sweep.n_axes;
    int status = config_fill_run(&l->fill, root, run);
    return status == BRAID_OK ? check_new(l, run) : status;
}

static int add_axes(struct load *l)
{
    struct experiment *x = l->x;
    struct swept *axes = ARENA_NEW(&x->arena, struct swept, l->sweep.n_axes);
    if (axes == NULL)
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < l->sweep.n_axes; i++) {
        struct config_text count;
        config_text_init(&count);
        config_text_format(&count, "%u", l->sweep.axes[i].n);
        axes[i] =
            (struct swept){l->sweep.axes[i].key, count.s != NULL ? arena_text(&x->arena, count.s, count.n) : NULL};
        config_text_fini(&count);
        if (axes[i].value == NULL)
            return short_of_memory(l->err);
    }
    x->axes = axes;
    x->n_axes = l->sweep.n_axes;
    return BRAID_OK;
}

static int add_inputs(struct load *l)
{
    const struct config_files *files = &l->fill.files;
    struct experiment *x = l->x;
    x->inputs = ARENA_NEW(&x->arena, const char *, (size_t)files->shown.count + 1);
    if (x->inputs == NULL)
        return short_of_memory(l->err);
    for (uint32_t i = 0; i < files->shown.count; i++)
        x->inputs[x->n_inputs++] = files->files[i]->path;
    return BRAID_OK;
}

/* The name from the config, else the file's without folder and ending. */
static int set_name(struct load *l)
{
    const struct config_item *item = config_tree_find(l->root, "name");
    struct experiment *x = l->x;
    if (item != NULL) {
        x->name = item->value->text; /* a text: the runs were filled */
        if (strchr(x->name, '/') == NULL && x->name[0] != '.')
            return BRAID_OK;
        return config_fail(l->err, item->value->place,
                           "'name' is '%.60s', but must be fit for a file's name: no '/', and no '.' "
                           "at its beginning",
                           x->name);
    }
    const char *slash = strrchr(x->path, '/'), *file = slash != NULL ? slash + 1 : x->path;
    const char *dot = strrchr(file, '.');
    x->name = arena_text(&x->arena, file, dot != NULL && dot != file ? (size_t)(dot - file) : strlen(file));
    return x->name != NULL ? BRAID_OK : short_of_memory(l->err);
}

static int load_all(struct load *l, const struct config_override *sets, size_t n_sets)
{
    struct experiment *x = l->x;
    l->root = config_tree_load(&x->arena, x->path, x->path, l->err);
    if (l->root == NULL)
        return l->err->code;
    if (l->root->kind != CONFIG_MAP)
        return config_fail(l->err, l->root->place, "a config is a map of keys, such as 'trace: PATH'");
    int status = BRAID_OK;
    for (size_t i = 0; i < n_sets && status == BRAID_OK; i++)
        status = apply_override(l, sets[i].text);
    if (status != BRAID_OK)
        return status;
    const struct config_item *sweep = config_tree_find(l->root, "sweep");
    l->sweep_place = sweep != NULL ? sweep->key_place : l->root->place;
    status = sweep_init(&l->sweep, &x->arena, sweep != NULL ? sweep->value : NULL, EXPERIMENT_RUNS_MAX, l->err);
    if (status == BRAID_OK)
        status = label_variants(l);
    if (status != BRAID_OK)
        return status;
    x->n_runs = l->sweep.n_runs;
    x->runs = ARENA_NEW(&x->arena, struct run_config, x->n_runs);
    if (x->runs == NULL)
        return short_of_memory(l->err);
    status = sweep_expand(&l->sweep, &x->arena, l->root, add_run, l, l->err);
    if (status == BRAID_OK)
        status = add_axes(l);
    if (status == BRAID_OK)
        status = add_inputs(l);
    return status == BRAID_OK ? set_name(l) : status;
}

int experiment_load(struct experiment *x, const char *path, const struct config_override *sets, size_t n_sets,
                    struct error *err)
{
    struct error unseen;
    *x = (struct experiment){0};
    arena_init(&x->arena);
    struct load l = {.x = x, .err = err != NULL ? err : &unseen};
    names_init(&l.seen);
    x->path = arena_text(&x->arena, path, strlen(path));
    int status = x->path != NULL && config_fill_init(&l.fill, x->path, &x->arena, l.err) ? load_all(&l, sets, n_sets)
                                                                                         : short_of_memory(l.err);
    x->libraries = l.fill.libraries;
    x->n_libraries = l.fill.n_libraries;
    config_fill_fini(&l.fill);
    names_fini(&l.seen);
    if (status != BRAID_OK)
        experiment_fini(x);
    return status;
}

void experiment_fini(struct experiment *x)
{
    for (uint32_t i = 0; i < x->n_libraries; i++)
        policy_unload(x->libraries[i]);
    arena_fini(&x->arena);
    *x = (struct experiment){0};
}
