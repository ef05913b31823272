/* cluster.vcs.NAME.jobs: which jobs a VC takes, {gpus: '>= 8', user: [ann, bob], name: 'bert*'}. */
#include "base/number.h"
#include "experiment/config_fill.h"

#include <string.h>

/* ">= 8", "< 4", "1..3", "2" into the smallest and the largest number of GPUs. */
static bool read_counts(const char *text, uint32_t *min, uint32_t *max)
{
    static const char *const signs[] = {">=", "<=", ">", "<", "=", ""};
    size_t s = 0;
    uint64_t a, b;
    while (strncmp(text, signs[s], strlen(signs[s])) != 0)
        s++;
    const char *number = text + strlen(signs[s]), *dots = strstr(number, "..");
    size_t n = dots != NULL ? (size_t)(dots - number) : strlen(number);
    if (!number_parse_u64(number, n, &a) || a > UINT32_MAX - 1)
        return false;
    b = a;
    if (dots != NULL && (s != 5 || !number_parse_u64(dots + 2, strlen(dots + 2), &b) || b > UINT32_MAX || b < a))
        return false;
    if (s == 3 && a == 0) /* "< 0" */
        return false;
    *min = s == 0 || s == 4 || s == 5 ? (uint32_t)a : s == 2 ? (uint32_t)a + 1 : 0;
    *max = s == 1 || s >= 4 ? (uint32_t)b : s == 3 ? (uint32_t)a - 1 : UINT32_MAX;
    return true;
}

int config_fill_counts(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                       struct vc_route *route)
{
    struct config_value value;
    struct config_key as_text = *key;
    as_text.type = KEY_TEXT;
    int status = config_value_read(&value, &as_text, node, f->arena, f->err);
    if (status != BRAID_OK)
        return status;
    if (!read_counts(value.text, &route->gpus_min, &route->gpus_max))
        return config_fail(f->err, node->place,
                           "'%s.%s' is '%.60s', but must be a number of GPUs such as 8, '>= 8', '< 4' or 2..7",
                           key->section, key->name, value.text);
    config_fill_value(f, &as_text, &value);
    return BRAID_OK;
}

int config_fill_match(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct route_texts *out)
{
    struct config_key each = *key;
    each.type = KEY_TEXT;
    bool is_list = node->kind == CONFIG_LIST;
    uint32_t n = is_list ? node->n : 1;
    if (n == 0)
        return config_fail(f->err, node->place, "'%s.%s' wants a text or a list of texts, and this list is empty",
                           key->section, key->name);
    out->v = ARENA_NEW(f->arena, const char *, n);
    if (out->v == NULL)
        return config_fill_short(f);
    config_fill_put(f, "[");
    for (uint32_t i = 0; i < n; i++) {
        struct config_value value;
        int status = config_value_read(&value, &each, is_list ? node->items[i].value : node, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        out->v[out->n++] = value.text;
        config_fill_key(f, NULL);
        config_fill_value(f, &each, &value);
    }
    config_fill_put(f, "]");
    return BRAID_OK;
}

int config_fill_route(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct vc_route *route)
{
    char shown[200];
    config_key_path(key, shown, sizeof shown);
    if (node->kind != CONFIG_MAP || node->n == 0)
        return config_fail(f->err, node->place,
                           "'%s' wants a map of conditions such as {gpus: '>= 8'} or {user: [ann, bob]}", shown);
    *route = (struct vc_route){.is_given = true, .gpus_max = UINT32_MAX};
    config_fill_put(f, "{");
    int status = config_fill_section(f, "cluster.vcs.NAME.jobs", shown, node, node->place, route);
    config_fill_put(f, "}");
    return status;
}
