#include "output/report_config.h"

#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* The config as a tree of nodes; false when it is not YAML. The caller deletes the document. */
static bool load_document(yaml_document_t *out, const char *text)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    bool ok = yaml_parser_load(&parser, out) != 0;
    yaml_parser_delete(&parser);
    return ok;
}

static yaml_node_t *child(yaml_document_t *d, yaml_node_t *map, const char *key)
{
    if (map == NULL || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        yaml_node_t *k = yaml_document_get_node(d, p->key);
        if (k != NULL && k->type == YAML_SCALAR_NODE && strcmp((const char *)k->data.scalar.value, key) == 0)
            return yaml_document_get_node(d, p->value);
    }
    return NULL;
}

static const char *scalar(const yaml_node_t *node)
{
    return node != NULL && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* A time of `measure`, or `otherwise` where the config names no time ("start", "end") or lacks the key. */
static bool read_time(yaml_document_t *d, yaml_node_t *measure, const char *key, const char *open_word,
                      double otherwise, double *out)
{
    const char *text = scalar(child(d, measure, key));
    int64_t ns;
    *out = otherwise;
    if (text == NULL || strcmp(text, open_word) == 0)
        return true;
    if (!number_parse_time(text, strlen(text), &ns))
        return false;
    *out = (double)ns / (double)NS_PER_S;
    return true;
}

int report_config_measure(struct measure_window *out, const struct report_file *f, const struct report_run *run,
                          double first_submit_s, struct error *err)
{
    *out = (struct measure_window){-INFINITY, INFINITY};
    yaml_document_t document;
    double warm_up = 0;
    bool ok = load_document(&document, run->config);
    if (ok) {
        yaml_node_t *measure = child(&document, yaml_document_get_root_node(&document), "measure");
        ok = read_time(&document, measure, "from", "start", first_submit_s, &out->from_s) &&
             read_time(&document, measure, "to", "end", INFINITY, &out->to_s) &&
             read_time(&document, measure, "warm_up", "0", 0, &warm_up);
        yaml_document_delete(&document);
    }
    if (!ok)
        return error_at(err, BRAID_BAD_INPUT, f->path, 0, 0, "the config of run %s cannot be read; the file is damaged",
                        run->id);
    out->from_s += warm_up;
    return BRAID_OK;
}

/* The text at a path of two keys, "" where there is none. False when the config is no YAML. */
static bool read_word(const struct report_run *run, const char *map, const char *key, char *out, size_t size)
{
    yaml_document_t document;
    out[0] = '\0';
    if (!load_document(&document, run->config))
        return false;
    const char *text = scalar(child(&document, child(&document, yaml_document_get_root_node(&document), map), key));
    snprintf(out, size, "%s", text != NULL ? text : "");
    yaml_document_delete(&document);
    return true;
}

bool report_config_has_load_by_vc(const struct report_run *run)
{
    char load[32], scope[16];
    return read_word(run, "trace", "load", load, sizeof load) && load[0] != '\0' && strcmp(load, "recorded") != 0 &&
           read_word(run, "trace", "load_scope", scope, sizeof scope) && strcmp(scope, "vc") == 0;
}

static uint64_t whole(const char *text, uint64_t otherwise)
{
    uint64_t value;
    return text != NULL && number_parse_u64(text, strlen(text), &value) ? value : otherwise;
}

void report_config_bases(struct node_bases *out, const struct report_run *run, uint64_t widest)
{
    *out = (struct node_bases){.stride = widest};
    yaml_document_t document;
    if (!load_document(&document, run->config))
        return;
    yaml_node_t *cluster = child(&document, yaml_document_get_root_node(&document), "cluster");
    yaml_node_t *nodes = child(&document, cluster, "nodes");
    uint64_t gpus = whole(scalar(child(&document, cluster, "gpus_per_node")), 0);
    if (gpus > widest)
        out->stride = gpus;
    const uint32_t room = sizeof out->groups / sizeof out->groups[0];
    if (nodes != NULL && nodes->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *i = nodes->data.sequence.items.start; i < nodes->data.sequence.items.top; i++) {
            yaml_node_t *group = yaml_document_get_node(&document, *i);
            if (out->n_groups == room) {
                out->n_groups = 0; /* too many to count through: all nodes one stride apart */
                break;
            }
            out->groups[out->n_groups].nodes = whole(scalar(child(&document, group, "count")), 1);
            out->groups[out->n_groups++].gpus = whole(scalar(child(&document, group, "gpus")), 0);
        }
    yaml_document_delete(&document);
}

uint64_t node_base(const struct node_bases *b, uint64_t node)
{
    uint64_t base = 0;
    for (uint32_t i = 0; i < b->n_groups; i++) {
        if (node < b->groups[i].nodes)
            return base + node * b->groups[i].gpus;
        base += b->groups[i].nodes * b->groups[i].gpus;
        node -= b->groups[i].nodes;
    }
    return base + node * b->stride;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* "8 nodes x 8 v100 GPUs" for one group of nodes, "12 nodes, 80 GPUs" for several. */
static void say_nodes(yaml_document_t *d, yaml_node_t *nodes, char *out, size_t size)
{
    uint64_t n_nodes = 0, n_gpus = 0, n_groups = 0, gpus = 0;
    const char *type = "";
    for (yaml_node_item_t *i = nodes->data.sequence.items.start; i < nodes->data.sequence.items.top; i++) {
        yaml_node_t *group = yaml_document_get_node(d, *i);
        uint64_t count = whole(scalar(child(d, group, "count")), 1);
        gpus = whole(scalar(child(d, group, "gpus")), 0);
        type = scalar(child(d, group, "gpu"));
        type = type == NULL || strcmp(type, "any") == 0 ? "" : type;
        n_nodes += count;
        n_gpus += count * gpus;
        n_groups++;
    }
    if (n_groups == 1)
        snprintf(out, size, "%" PRIu64 " node%s x %" PRIu64 " %s%sGPU%s", n_nodes, n_nodes == 1 ? "" : "s", gpus, type,
                 *type != '\0' ? " " : "", gpus == 1 ? "" : "s");
    else if (n_groups > 1)
        snprintf(out, size, "%" PRIu64 " nodes, %" PRIu64 " GPUs", n_nodes, n_gpus);
}

const char *report_config_cluster(const struct report_run *run, char *out, size_t size)
{
    out[0] = '\0';
    yaml_document_t document;
    if (!load_document(&document, run->config))
        return out;
    yaml_node_t *cluster = child(&document, yaml_document_get_root_node(&document), "cluster");
    yaml_node_t *nodes = child(&document, cluster, "nodes");
    const char *file = scalar(child(&document, cluster, "file"));
    if (nodes != NULL && nodes->type == YAML_SEQUENCE_NODE)
        say_nodes(&document, nodes, out, size);
    if (out[0] == '\0' && file != NULL && *file != '\0')
        snprintf(out, size, "cluster %s", base_name(file));
    yaml_document_delete(&document);
    return out;
}

const char *report_config_trace(const struct report_run *run, char *out, size_t size)
{
    out[0] = '\0';
    yaml_document_t document;
    if (!load_document(&document, run->config))
        return out;
    yaml_node_t *trace = child(&document, yaml_document_get_root_node(&document), "trace");
    yaml_node_t *generate = child(&document, trace, "generate");
    const char *path = scalar(child(&document, trace, "path")), *model = scalar(child(&document, generate, "model")),
               *fitted = scalar(child(&document, generate, "file"));
    if (path != NULL && *path != '\0')
        snprintf(out, size, "trace %s", base_name(path));
    else if (fitted != NULL && *fitted != '\0')
        snprintf(out, size, "generated from %s", base_name(fitted));
    else if (model != NULL)
        snprintf(out, size, "generated like %s", model);
    yaml_document_delete(&document);
    return out;
}
