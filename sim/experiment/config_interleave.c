/* model.interleave.kinds and trace.profiles.mix: what the table of keys alone cannot check. */
#include "experiment/config_fill.h"
#include "traces/stage_table.h"

#include <string.h>

/* The kind with that name of `n` letters, or WORKLOAD_STAGES. */
static uint32_t kind_find(const char *text, size_t n)
{
    uint32_t k = 0;
    while (k < WORKLOAD_STAGES && (strlen(stage_kind_names[k]) != n || memcmp(stage_kind_names[k], text, n) != 0))
        k++;
    return k;
}

/* "storage+cpu" as kind number `kind`; `*next` is the resource that must come now. */
static int read_kind(struct config_fill *f, const struct config_node *node, uint8_t kind, uint32_t *next)
{
    for (const char *at = node->text;; at++) {
        size_t n = strcspn(at, "+");
        uint32_t k = kind_find(at, n);
        if (k == WORKLOAD_STAGES)
            return config_fail(f->err, node->place,
                               "'%.*s' is no kind of resource; there are storage, cpu, gpu and network", (int)n, at);
        if (k != *next)
            return config_fail(
                f->err, node->place,
                "'model.interleave.kinds' must name storage, cpu, gpu and network once each and in this order; "
                "here %s should come",
                *next < WORKLOAD_STAGES ? stage_kind_names[*next] : "nothing more");
        f->run->sharing.kind[(*next)++] = kind;
        at += n;
        if (*at == '\0')
            return BRAID_OK;
    }
}

int config_fill_kinds(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    const struct config_key each = {.section = key->section, .name = key->name, .type = KEY_TEXT};
    uint32_t next = 0;
    if (node->kind != CONFIG_LIST || node->n == 0)
        return config_fail(f->err, node->place,
                           "'model.interleave.kinds' wants a list such as [storage+cpu, gpu, network]");
    config_fill_put(f, "[");
    for (uint32_t i = 0; i < node->n; i++) {
        struct config_value value;
        int status = config_value_read(&value, &each, node->items[i].value, f->arena, f->err);
        if (status == BRAID_OK)
            status = read_kind(f, node->items[i].value, (uint8_t)i, &next);
        if (status != BRAID_OK)
            return status;
        config_fill_key(f, NULL);
        config_fill_value(f, &each, &value);
    }
    config_fill_put(f, "]");
    if (next < WORKLOAD_STAGES)
        return config_fail(f->err, node->place, "'model.interleave.kinds' lacks %s; join it to another with '+'",
                           stage_kind_names[next]);
    f->run->sharing.n_kinds = node->n;
    return BRAID_OK;
}

int config_check_mix(struct config_fill *f, const struct config_node *root)
{
    const struct config_item *trace = config_tree_find(root, "trace");
    const struct config_item *profiles = trace != NULL ? config_tree_find(trace->value, "profiles") : NULL;
    const struct config_item *mix = profiles != NULL ? config_tree_find(profiles->value, "mix") : NULL;
    const struct stages_spec *stages = &f->run->trace.stages;
    if (mix == NULL)
        return BRAID_OK;
    if (stages->mix.n != WORKLOAD_STAGES)
        return config_fail(f->err, mix->value->place,
                           "'trace.profiles.mix' wants four weights: of storage, CPU, GPU and network, not %u",
                           stages->mix.n);
    double total = 0;
    for (uint32_t k = 0; k < stages->mix.n; k++)
        total += stages->mix.v[k];
    return total > 0 ? BRAID_OK
                     : config_fail(f->err, mix->value->place,
                                   "'trace.profiles.mix': every weight is 0, so that none can be drawn");
}
