/* The cluster section: groups of nodes, virtual clusters, and the loading of the files that they name. */
#include "cluster/vc_nodes.h"
#include "experiment/config_fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int config_fill_groups(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    struct cluster_spec *spec = &f->run->cluster;
    if (node->kind != CONFIG_LIST || node->n == 0)
        return config_fail(f->err, node->place, "'%s.%s' wants a list of maps such as [{count: 8, gpus: 8}]",
                           key->section, key->name);
    spec->groups = ARENA_NEW(f->arena, struct node_group_spec, node->n);
    if (spec->groups == NULL)
        return config_fill_short(f);
    spec->n_groups = node->n;
    config_fill_put(f, "[");
    for (uint32_t i = 0; i < node->n; i++) {
        const struct config_node *group = node->items[i].value;
        if (group->kind != CONFIG_MAP)
            return config_fail(f->err, group->place, "'%s.%s' wants maps such as {count: 8, gpus: 8} in its list",
                               key->section, key->name);
        config_fill_key(f, NULL);
        config_fill_put(f, "{");
        int status =
            config_fill_section(f, "cluster.nodes[]", "cluster.nodes[]", group, group->place, &spec->groups[i]);
        if (status != BRAID_OK)
            return status;
        config_fill_put(f, "}");
    }
    config_fill_put(f, "]");
    return BRAID_OK;
}

static bool group_names_vc(const struct cluster_spec *spec, const char *name)
{
    for (uint32_t g = 0; g < spec->n_groups; g++)
        if (spec->groups[g].vc != NULL && strcmp(spec->groups[g].vc, name) == 0)
            return true;
    return false;
}

static int fill_vc(struct config_fill *f, const struct config_item *item, struct vc_spec *vc)
{
    char shown[160];
    const struct config_node *node = item->value;
    snprintf(shown, sizeof shown, "cluster.vcs.%.120s", item->key);
    if (item->key[0] == '\0')
        return config_fail(f->err, item->key_place, "a virtual cluster must have a name");
    const struct config_item *gpus = config_tree_find(node, "gpus");
    bool is_tied = group_names_vc(&f->run->cluster, item->key);
    if (node->kind != CONFIG_MAP || (node->n == 0 && !is_tied))
        return config_fail(f->err, node->place, "'%s' wants a map, {nodes: N} or {gpus: N}", shown);
    vc->name = item->key;
    vc->mode = gpus != NULL ? VC_GPUS : VC_NODES;
    config_fill_key(f, item->key);
    config_fill_put(f, "{");
    int status = config_fill_section(f, "cluster.vcs.NAME", shown, node, node->place, vc);
    if (status != BRAID_OK)
        return status;
    if (gpus == NULL && config_tree_find(node, "nodes") == NULL && !is_tied)
        return config_fail(f->err, node->place, "'%s' needs 'nodes' or 'gpus', or a group of nodes with 'vc: %.60s'",
                           shown, item->key);
    config_fill_put(f, "}");
    return BRAID_OK;
}

int config_fill_vcs(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    struct cluster_spec *spec = &f->run->cluster;
    if (node->kind == CONFIG_SCALAR && strcmp(node->text, key->word) == 0) {
        config_fill_put(f, key->word);
        return BRAID_OK;
    }
    if (node->kind != CONFIG_MAP || node->n == 0)
        return config_fail(f->err, node->place, "'%s.%s' wants a map such as {NAME: {nodes: 4}}, or '%s'", key->section,
                           key->name, key->word);
    spec->vcs = ARENA_NEW(f->arena, struct vc_spec, node->n);
    if (spec->vcs == NULL)
        return config_fill_short(f);
    spec->n_vcs = node->n;
    config_fill_put(f, "{");
    for (uint32_t i = 0; i < node->n; i++) {
        int status = fill_vc(f, &node->items[i], &spec->vcs[i]);
        if (status != BRAID_OK)
            return status;
    }
    config_fill_put(f, "}");
    return BRAID_OK;
}

/* Where what the fault is about is written: a key of a VC or of a group, as near as the tree has it. */
static struct config_place place_of(const struct vc_fault *fault, const struct cluster_spec *spec,
                                    const struct config_node *cluster, struct config_place whole)
{
    const struct config_item *item = NULL;
    if (fault->at == VC_FAULT_VC) {
        const struct config_item *vcs = config_tree_find(cluster, "vcs");
        item = vcs != NULL ? config_tree_find(vcs->value, spec->vcs[fault->index].name) : NULL;
        if (item == NULL) { /* a VC that groups alone name: the last of them */
            const struct config_item *nodes = config_tree_find(cluster, "nodes");
            for (uint32_t g = 0; nodes != NULL && g < spec->n_groups && g < nodes->value->n; g++)
                if (spec->groups[g].vc != NULL && strcmp(spec->groups[g].vc, spec->vcs[fault->index].name) == 0)
                    item = config_tree_find(nodes->value->items[g].value, "vc");
        }
    } else if (fault->at == VC_FAULT_GROUP) {
        const struct config_item *nodes = config_tree_find(cluster, "nodes");
        if (nodes != NULL && nodes->value->kind == CONFIG_LIST && fault->index < nodes->value->n)
            item = &nodes->value->items[fault->index];
    }
    const struct config_item *key =
        item != NULL && fault->key != NULL ? config_tree_find(item->value, fault->key) : NULL;
    return key != NULL         ? key->value->place
           : item == NULL      ? whole
           : item->key != NULL ? item->key_place
                               : item->value->place;
}

/* Read the files of the spec, and build it once to see whether it can be built. */
static int load_cluster(struct config_fill *f, struct cluster_spec *spec, const struct config_node *node,
                        struct config_place place)
{
    int status = cluster_spec_load(spec, f->arena, f->err);
    if (status == BRAID_OK) {
        struct arena trial;
        arena_init(&trial);
        if (cluster_create(spec, 0, &trial, f->err) == NULL) {
            struct vc_nodes nodes;
            struct vc_fault fault;
            struct error why = {0};
            status = f->err->code;
            if (vc_nodes_assign(&nodes, spec, &trial, &fault, &why) == status &&
                strcmp(why.message, f->err->message) == 0)
                place = place_of(&fault, spec, node, place);
        }
        arena_fini(&trial);
    }
    if (status == BRAID_BAD_INPUT && f->err->file[0] == '\0')
        error_at(f->err, status, place.file, place.line, place.col, "%s", f->err->message);
    return status;
}

int config_fill_cluster(struct config_fill *f, const struct config_node *node, size_t text_at)
{
    struct cluster_spec *spec = &f->run->cluster;
    const struct config_text *yaml = &f->out[OUT_YAML];
    uint32_t known = f->clusters.count;
    uint32_t id = names_add(&f->clusters, yaml->s + text_at, yaml->n - text_at);
    if (id == NAMES_NONE)
        return config_fill_short(f);
    if (id < known) {
        *spec = f->cluster_specs[id];
        return BRAID_OK;
    }
    int status = load_cluster(f, spec, node, node != NULL ? node->place : f->here);
    if (status != BRAID_OK)
        return status;
    if (id >= f->cluster_capacity) {
        uint32_t capacity = id * 2 + 8;
        struct cluster_spec *grown = realloc(f->cluster_specs, capacity * sizeof *grown);
        if (grown == NULL)
            return config_fill_short(f);
        f->cluster_specs = grown;
        f->cluster_capacity = capacity;
    }
    f->cluster_specs[id] = *spec;
    return BRAID_OK;
}
