/* Policy and placement: a module by name, its parameters checked against the module's own table.
 *
 *   policy: srtf                                a name
 *   policy: {name: tiresias, thresholds: [..]}  a name and parameters
 *   policy: {order: srsf, fill: easy}           no name: the policy "compose" with these parameters
 *   policy: {plugin: ./my.so, PARAMETER: ..}    a shared object
 */
#include "compat/compat.h"
#include "experiment/config_fill.h"
#include "policies/registry.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 256 };

struct module {
    const char *kind, *name; /* "policy", "tiresias" */
    const struct param_spec *params;
    size_t n_params;
    const char *const *reserved; /* keys that are no parameters */
    size_t n_reserved;
};

static bool is_reserved(const struct module *m, const char *key)
{
    for (size_t i = 0; i < m->n_reserved; i++)
        if (strcmp(m->reserved[i], key) == 0)
            return true;
    return false;
}

static int check_names(struct config_fill *f, const struct module *m, const struct config_node *map)
{
    for (uint32_t i = 0; map != NULL && i < map->n; i++) {
        const struct config_item *item = &map->items[i];
        const char *names[NAMES_MAX];
        size_t n = 0;
        bool known = is_reserved(m, item->key);
        for (size_t p = 0; p < m->n_params && !known; p++) {
            known = strcmp(m->params[p].name, item->key) == 0;
            if (n < NAMES_MAX)
                names[n++] = m->params[p].name;
        }
        if (known)
            continue;
        char what[160];
        snprintf(what, sizeof what, "parameter of %s '%.80s':", m->kind, m->name);
        if (text_nearest(item->key, names, n) == NULL && text_nearest(item->key, m->reserved, m->n_reserved) != NULL)
            return config_fail_unknown(f->err, item->key_place, what, item->key, m->reserved, m->n_reserved);
        return config_fail_unknown(f->err, item->key_place, what, item->key, names, n);
    }
    return BRAID_OK;
}

/* Values of all parameters, in their order; NULL with f->err. Each is written to the outputs. */
static const union param *fill_params(struct config_fill *f, const struct module *m, const struct config_node *map,
                                      struct config_place here)
{
    if (check_names(f, m, map) != BRAID_OK)
        return NULL;
    union param *values = ARENA_NEW(f->arena, union param, m->n_params);
    if (values == NULL) {
        config_fill_short(f);
        return NULL;
    }
    for (size_t i = 0; i < m->n_params; i++) {
        struct config_key key = config_key_of_param(m->kind, &m->params[i]);
        const struct config_item *item = config_tree_find(map, key.name);
        if (item == NULL && key.def == NULL) {
            config_fail(f->err, here, "%s '%s' needs its parameter '%s'", m->kind, m->name, key.name);
            return NULL;
        }
        const struct config_node *node = item != NULL ? item->value : config_default_node(f->arena, &key, f->err);
        struct config_value value;
        if (node == NULL || config_value_read(&value, &key, node, f->arena, f->err) != BRAID_OK) {
            if (item == NULL && f->err->code == BRAID_BAD_INPUT) { /* a plugin's: say whose */
                struct error fault = *f->err;
                config_fail(f->err, here, "%s '%s' is faulty: the default of its parameter %s", m->kind, m->name,
                            fault.message);
            }
            return NULL;
        }
        values[i] = value.v;
        if (key.type == KEY_CHOICE || key.type == KEY_PATH)
            values[i].s = value.text;
        config_fill_key(f, key.name);
        if (key.type == KEY_PATH && value.text[0] != '\0') {
            const struct config_file *file = config_fill_file(f, &key, node);
            if (file == NULL)
                return NULL;
            values[i].s = file->path;
        } else {
            config_fill_value(f, &key, &value);
        }
    }
    return values;
}

/* ---- policy ------------------------------------------------------------------------------------ */

static int fail_unknown_policy(struct config_fill *f, const struct config_node *node)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (const struct policy_ops *const *p = policy_list(); *p != NULL && n < NAMES_MAX; p++)
        names[n++] = (*p)->name;
    if (f->compat != NULL && f->compat->policies != NULL)
        for (const struct policy_ops *const *p = f->compat->policies; *p != NULL && n < NAMES_MAX; p++)
            if (policy_find((*p)->name) == NULL)
                names[n++] = (*p)->name;
    return config_fail_unknown(f->err, node->place, "policy", node->text, names, n);
}

static int keep_library(struct config_fill *f, void *library)
{
    if (f->n_libraries == f->libraries_capacity) {
        uint32_t capacity = f->libraries_capacity * 2 + 4;
        void **grown = ARENA_NEW(f->arena, void *, capacity);
        if (grown == NULL)
            return config_fill_short(f);
        if (f->n_libraries > 0)
            memcpy(grown, f->libraries, f->n_libraries * sizeof *grown);
        f->libraries = grown;
        f->libraries_capacity = capacity;
    }
    f->libraries[f->n_libraries++] = library;
    return BRAID_OK;
}

static int load_plugin(struct config_fill *f, const struct config_node *node, struct policy_spec *policy)
{
    const struct config_key key = {.section = "policy", .name = "plugin", .type = KEY_PATH};
    config_fill_key(f, key.name);
    struct config_file *file = config_fill_file(f, &key, node);
    if (file == NULL)
        return f->err->code;
    if (file->plugin == NULL) {
        file->plugin = policy_load_plugin(file->path, &file->library, f->err);
        if (file->plugin == NULL)
            return config_fail(f->err, node->place, "'%s': %s", node->text, f->err->message);
        int status = keep_library(f, file->library);
        if (status != BRAID_OK)
            return status;
    }
    policy->ops = file->plugin;
    policy->library = file->library;
    return BRAID_OK;
}

/* A composition is called by the parts that it is given, whatever their order in the file: "srsf+easy". NULL: none given. */
static const char *compose_label(struct config_fill *f, const struct policy_ops *ops, const struct config_node *map)
{
    config_text_clear(&f->scratch);
    for (size_t i = 0; i < ops->n_params; i++) {
        const struct config_item *item = config_tree_find(map, ops->params[i].name);
        if (item == NULL)
            continue;
        config_text_put(&f->scratch, f->scratch.n > 0 ? "+" : "");
        config_text_node(&f->scratch, item->value);
    }
    return f->scratch.n > 0 ? arena_text(f->arena, f->scratch.s, f->scratch.n) : NULL;
}

/* Find the policy that the node names, write its key, and set ops and the default label. */
static int find_policy(struct config_fill *f, const struct config_node *node, struct policy_spec *policy)
{
    static const struct config_key key = {.section = "policy", .name = "name", .type = KEY_TEXT};
    const struct config_item *plugin = config_tree_find(node, "plugin"), *name = config_tree_find(node, "name");
    struct config_value value;
    if (plugin != NULL && name != NULL)
        return config_fail(f->err, name->key_place,
                           "'policy.name' cannot stand beside 'plugin'; leave one of them out");
    if (plugin != NULL) {
        int status = load_plugin(f, plugin->value, policy);
        policy->label = status == BRAID_OK ? policy->ops->name : "";
        return status;
    }
    if (node->kind == CONFIG_MAP && name == NULL) {
        policy->ops = policy_find("compose");
        if (policy->ops == NULL || node->n == (config_tree_find(node, "label") != NULL))
            return config_fail(f->err, node->place, "'policy' needs a 'name'");
        policy->label = compose_label(f, policy->ops, node);
        if (policy->label == NULL)
            policy->label = policy->ops->name;
    } else {
        const struct config_node *text = name != NULL ? name->value : node;
        int status = config_value_read(&value, &key, text, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        policy->ops = compat_find_policy(f->compat, value.text);
        if (policy->ops == NULL)
            policy->ops = policy_find(value.text);
        if (policy->ops == NULL)
            return fail_unknown_policy(f, text);
        policy->label = policy->ops->name;
    }
    config_fill_key(f, "name");
    config_fill_put(f, policy->ops->name);
    return BRAID_OK;
}

/* A label stands in tables, figures and file names: in one line, and nothing that a terminal acts on. */
static int check_label(struct config_fill *f, const struct config_node *label)
{
    for (const unsigned char *c = (const unsigned char *)label->text; *c != '\0'; c++)
        if (*c < ' ' || *c == 0x7f || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
            return config_fail(f->err, label->place,
                               "'policy.label' has a %s; write a label of one line, without control characters",
                               *c == '\n' || *c == '\r' ? "line end"
                               : *c == '\t'             ? "tab"
                                                        : "control character");
    return BRAID_OK;
}

int config_fill_policy(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    static const struct config_key label_key = {.section = "policy", .name = "label", .type = KEY_TEXT};
    static const char *const reserved[] = {"name", "label", "plugin"};
    struct policy_spec *policy = &f->run->policy;
    if (node->kind == CONFIG_LIST)
        return config_fail(f->err, node->place, "'%s' wants one policy; to run several, write them under 'sweep'",
                           key->name);
    config_fill_put(f, "{");
    int status = find_policy(f, node, policy);
    if (status != BRAID_OK)
        return status;
    const struct config_item *label = config_tree_find(node, "label");
    struct config_value value = {.text = policy->label};
    if (label != NULL) {
        status = config_value_read(&value, &label_key, label->value, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        status = check_label(f, label->value);
        if (status != BRAID_OK)
            return status;
        policy->label = value.text;
    }
    config_fill_key(f, "label");
    config_fill_value(f, &label_key, &value);
    const struct module m = {"policy", policy->ops->name, policy->ops->params, policy->ops->n_params, reserved, 3};
    policy->params = fill_params(f, &m, node->kind == CONFIG_MAP ? node : NULL, node->place);
    config_fill_put(f, "}");
    return policy->params != NULL ? BRAID_OK : f->err->code;
}

/* ---- placement --------------------------------------------------------------------------------- */

int config_fill_placement(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    static const struct config_key name_key = {.section = "placement", .name = "name", .type = KEY_TEXT};
    static const char *const reserved[] = {"name"};
    struct placement_spec *placement = &f->run->placement;
    const struct config_node *map = node->kind == CONFIG_MAP ? node : NULL;
    const struct config_item *name = config_tree_find(map, "name");
    struct config_value value;
    if (node->kind == CONFIG_LIST || (map != NULL && name == NULL))
        return config_fail(f->err, node->place, "'%s' wants a name, or a map {name: NAME, PARAMETER: ...}", key->name);
    const struct config_node *text = name != NULL ? name->value : node;
    int status = config_value_read(&value, &name_key, text, f->arena, f->err);
    if (status != BRAID_OK)
        return status;
    placement->ops = placement_find(value.text);
    if (placement->ops == NULL) {
        const char *names[NAMES_MAX];
        size_t n = 0;
        for (const struct placement_ops *const *p = placement_list(); *p != NULL && n < NAMES_MAX; p++)
            names[n++] = (*p)->name;
        return config_fail_unknown(f->err, text->place, "placement", value.text, names, n);
    }
    config_fill_put(f, "{");
    config_fill_key(f, "name");
    config_fill_put(f, placement->ops->name);
    const struct module m = {
        "placement", placement->ops->name, placement->ops->params, placement->ops->n_params, reserved, 1};
    placement->params = fill_params(f, &m, map, node->place);
    config_fill_put(f, "}");
    return placement->params != NULL ? BRAID_OK : f->err->code;
}

/* ---- for sweeps -------------------------------------------------------------------------------- */

/* A plugin is loaded as for a run, but nothing is written and a failure is left to the run. */
static const struct policy_ops *find_plugin(struct config_fill *f, const struct config_node *node)
{
    struct policy_spec policy = {0};
    struct error unseen = {0}, *err = f->err;
    unsigned mask = f->mask;
    f->err = &unseen;
    f->mask = 0;
    int status = node->kind == CONFIG_SCALAR ? load_plugin(f, node, &policy) : BRAID_BAD_INPUT;
    f->err = err;
    f->mask = mask;
    return status == BRAID_OK ? policy.ops : NULL;
}

bool config_fill_module(struct config_fill *f, const struct config_node *root, const char *kind,
                        const struct config_node *node, struct sweep_module *out)
{
    const struct config_key *key = config_key_find("", kind);
    const struct config_item *name = config_tree_find(node, "name"), *plugin = config_tree_find(node, "plugin");
    const struct config_item *compat = config_tree_find(root, "compat");
    const struct config_node *named = name != NULL ? name->value : node;
    const char *text = named == NULL ? key->def : named->kind == CONFIG_SCALAR ? named->text : NULL;
    *out = (struct sweep_module){0};
    if (strcmp(kind, "placement") == 0) {
        const struct placement_ops *ops = text != NULL ? placement_find(text) : NULL;
        if (ops != NULL)
            *out = (struct sweep_module){ops->name, ops->params, ops->n_params, false};
        return ops != NULL;
    }
    const struct compat_ops *of =
        compat != NULL && compat->value->kind == CONFIG_SCALAR ? compat_find(compat->value->text) : NULL;
    const struct policy_ops *ops = NULL;
    if (plugin != NULL)
        ops = find_plugin(f, plugin->value);
    else if (text == NULL && named->kind == CONFIG_MAP)
        ops = policy_find("compose");
    else if (text != NULL && (ops = compat_find_policy(of, text)) == NULL)
        ops = policy_find(text);
    if (ops != NULL)
        *out = (struct sweep_module){ops->name, ops->params, ops->n_params, plugin == NULL && text == NULL};
    return ops != NULL;
}
