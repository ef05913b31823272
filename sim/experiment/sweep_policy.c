/* The policies of a sweep: {name: las, quantum: [1 min, 3 h]} is one policy a value, and policies that would be called the same get labels.
 *
 * A parameter that is a list itself (thresholds: [3250, 7200]) wants a list of lists for several values. */
#include "base/config_text.h"
#include "base/names.h"
#include "experiment/sweep.h"

#include <string.h>

enum { POLICIES_MAX = 100000 };

static const struct param_spec *find_param(const struct sweep_module *m, const char *name)
{
    for (size_t i = 0; i < m->n_params; i++)
        if (strcmp(m->params[i].name, name) == 0)
            return &m->params[i];
    return NULL;
}

/* The values that an item of a policy's map stands for: NULL, it is one value. */
static const struct config_node *values_of(const struct sweep_module *m, const struct config_item *item)
{
    const struct param_spec *param = find_param(m, item->key);
    const struct config_node *v = item->value;
    if (param == NULL || v->kind != CONFIG_LIST)
        return NULL;
    if (param->type != PARAM_NUMBERS)
        return v;
    return v->n > 0 && v->items[0].value->kind == CONFIG_LIST ? v : NULL;
}

/* "tiresias thresholds=[3250, 7200]": `base`, and those parameters of `policy` that it is given; `only`: of these only those with several values
 * there (NULL: all). */
static const struct config_node *label_node(struct arena *a, const char *base, const struct sweep_module *m,
                                            const struct config_node *policy, const struct config_node *only)
{
    struct config_text t;
    config_text_init(&t);
    config_text_put(&t, base);
    for (size_t i = 0; i < m->n_params; i++) {
        const struct config_item *item = config_tree_find(policy, m->params[i].name);
        const struct config_item *several = only != NULL ? config_tree_find(only, m->params[i].name) : NULL;
        if (item == NULL || (only != NULL && (several == NULL || values_of(m, several) == NULL)))
            continue;
        config_text_format(&t, " %.80s=", item->key);
        config_text_node(&t, item->value);
    }
    struct config_node *label = ARENA_NEW(a, struct config_node, 1);
    if (label != NULL) {
        *label = (struct config_node){
            .kind = CONFIG_SCALAR, .is_quoted = true, .depth = 1, .size = 1, .place = policy->place};
        label->text = t.is_short ? NULL : arena_text(a, t.s, t.n);
    }
    config_text_fini(&t);
    return label != NULL && label->text != NULL ? label : NULL;
}

/* ---- several values in one policy ---------------------------------------------------------------- */

struct list {
    struct arena *arena;
    struct config_item *items;
    uint32_t n, room;
    struct error *err;
};

static bool list_add(struct list *l, const struct config_node *node)
{
    if (l->n == l->room) {
        uint32_t room = l->room * 2 + 16;
        struct config_item *items = ARENA_NEW(l->arena, struct config_item, room);
        if (items == NULL)
            return false;
        if (l->n > 0)
            memcpy(items, l->items, l->n * sizeof *items);
        l->items = items;
        l->room = room;
    }
    l->items[l->n++] = (struct config_item){.value = node};
    return true;
}

static int list_short(struct list *l)
{
    return error_set(l->err, BRAID_FAILED, "out of memory");
}

/* Add the policies that `policy` stands for, with its items before `at` settled in `made`. The last one changes fastest. */
static int add_product(struct list *l, const struct sweep_module *m, const struct config_node *policy,
                       const struct config_node *made, uint32_t at)
{
    const struct config_node *values = NULL;
    while (at < policy->n && (values = values_of(m, &policy->items[at])) == NULL)
        at++;
    if (at == policy->n) {
        if (l->n == POLICIES_MAX)
            return config_fail(l->err, policy->place, "'sweep.policy' makes more than %d policies", POLICIES_MAX);
        return list_add(l, made) ? BRAID_OK : list_short(l);
    }
    if (values->n == 0)
        return config_fail(l->err, values->place,
                           "'%s' of a policy in 'sweep.policy' has no values: nothing would be run",
                           policy->items[at].key);
    for (uint32_t i = 0; i < values->n; i++) {
        const struct config_node *next =
            config_tree_put(l->arena, made, policy->items[at].key, policy->items[at].key_place, values->items[i].value);
        int status = next != NULL ? add_product(l, m, policy, next, at + 1) : list_short(l);
        if (status != BRAID_OK)
            return status;
    }
    return BRAID_OK;
}

static bool has_several(const struct sweep_module *m, const struct config_node *policy)
{
    for (uint32_t i = 0; policy->kind == CONFIG_MAP && i < policy->n; i++)
        if (values_of(m, &policy->items[i]) != NULL)
            return true;
    return false;
}

/* A policy's own label must tell its variants apart. */
static int label_product(struct list *l, uint32_t first, const struct sweep_module *m, const struct config_node *policy)
{
    const struct config_item *label = config_tree_find(policy, "label");
    if (label == NULL || label->value->kind != CONFIG_SCALAR)
        return BRAID_OK;
    for (uint32_t i = first; i < l->n; i++) {
        const struct config_node *own = label_node(l->arena, label->value->text, m, l->items[i].value, policy);
        l->items[i].value =
            own != NULL ? config_tree_put(l->arena, l->items[i].value, "label", label->key_place, own) : NULL;
        if (l->items[i].value == NULL)
            return list_short(l);
    }
    return BRAID_OK;
}

const struct config_node *sweep_policies(const struct sweep_modules *modules, struct arena *a,
                                         const struct config_node *root, const struct config_node *list,
                                         struct error *err)
{
    struct list l = {.arena = a, .err = err};
    for (uint32_t i = 0; i < list->n; i++) {
        const struct config_node *policy = list->items[i].value;
        struct sweep_module m;
        uint32_t first = l.n;
        bool is_known = policy->kind == CONFIG_MAP && modules->find(modules->self, root, "policy", policy, &m);
        int status = BRAID_OK;
        if (!is_known || !has_several(&m, policy))
            status = list_add(&l, policy) ? BRAID_OK : list_short(&l);
        else if ((status = add_product(&l, &m, policy, policy, 0)) == BRAID_OK)
            status = label_product(&l, first, &m, policy);
        if (status != BRAID_OK)
            return NULL;
    }
    struct config_node *made = ARENA_NEW(a, struct config_node, 1);
    if (made == NULL) {
        list_short(&l);
        return NULL;
    }
    *made = *list;
    made->n = l.n;
    made->items = l.items;
    return made;
}

/* ---- labels -------------------------------------------------------------------------------------- */

/* The name that a policy of a sweep goes by unless it has a label; NULL for those that see to it themselves. */
static const char *plain_name(const struct sweep *s, const struct config_node *root, const struct config_node *policy,
                              struct sweep_module *m)
{
    if (config_tree_find(policy, "label") != NULL || !s->modules.find(s->modules.self, root, "policy", policy, m))
        return NULL;
    return m->is_composed ? NULL : m->name;
}

/* How many policies of the axis go by each name: counts[i] for the name of policy i. False: memory is out. */
static bool count_names(const struct sweep *s, struct arena *a, const struct config_node *root,
                        const struct sweep_key *key, uint32_t n, uint32_t *counts)
{
    struct names names;
    uint32_t *by_name = ARENA_NEW(a, uint32_t, n);
    bool ok = by_name != NULL;
    names_init(&names);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n && ok; i++) {
            struct sweep_module m;
            const char *name = plain_name(s, root, key->values[i].value, &m);
            uint32_t id = name != NULL ? names_add(&names, name, strlen(name)) : 0;
            ok = id != NAMES_NONE;
            if (ok && name != NULL)
                counts[i] = pass == 0 ? ++by_name[id] : by_name[id];
        }
    names_fini(&names);
    return ok;
}

/* Variants of one policy in a sweep would all be called by its name: call those with parameters by these as well. */
int sweep_label(struct sweep *s, struct arena *a, const struct config_node *root, struct error *err)
{
    for (uint32_t k = 0; k < s->n_keys; k++) {
        struct sweep_key *key = &s->keys[k];
        uint32_t n = s->axes[key->axis].n;
        if (strcmp(key->key, "policy") != 0)
            continue;
        struct config_item *items = ARENA_NEW(a, struct config_item, n);
        uint32_t *counts = ARENA_NEW(a, uint32_t, n);
        if (items == NULL || counts == NULL || !count_names(s, a, root, key, n, counts))
            return error_set(err, BRAID_FAILED, "out of memory while reading the config");
        for (uint32_t i = 0; i < n; i++) {
            const struct config_node *policy = key->values[i].value;
            struct sweep_module m;
            items[i] = key->values[i];
            if (counts[i] < 2 || policy->kind != CONFIG_MAP || plain_name(s, root, policy, &m) == NULL)
                continue;
            const struct config_node *label = label_node(a, m.name, &m, policy, NULL);
            items[i].value = label != NULL ? config_tree_put(a, policy, "label", policy->place, label) : NULL;
            if (items[i].value == NULL)
                return error_set(err, BRAID_FAILED, "out of memory while reading the config");
        }
        key->values = items;
    }
    return BRAID_OK;
}
