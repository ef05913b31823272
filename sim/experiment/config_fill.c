#include "experiment/config_fill.h"

#include "base/number.h"
#include "compat/compat.h"
#include "traces/generator.h"
#include "traces/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 160, NAMES_MAX = 64 };

bool config_fill_init(struct config_fill *f, const char *config_path, struct arena *arena, struct error *err)
{
    *f = (struct config_fill){.arena = arena, .err = err};
    for (int i = 0; i < N_OUT; i++)
        config_text_init(&f->out[i]);
    config_text_init(&f->scratch);
    names_init(&f->clusters);
    return config_files_init(&f->files, config_path, arena);
}

void config_fill_fini(struct config_fill *f)
{
    for (int i = 0; i < N_OUT; i++)
        config_text_fini(&f->out[i]);
    config_text_fini(&f->scratch);
    names_fini(&f->clusters);
    free(f->cluster_specs);
    config_files_fini(&f->files);
}

int config_fill_short(struct config_fill *f)
{
    return error_set(f->err, BRAID_FAILED, "out of memory while reading the config");
}

/* ---- texts ------------------------------------------------------------------------------------- */

void config_fill_put(struct config_fill *f, const char *s)
{
    for (int i = 0; i < N_OUT; i++)
        if (f->mask & 1u << i)
            config_text_put(&f->out[i], s);
}

void config_fill_key(struct config_fill *f, const char *name)
{
    for (int i = 0; i < N_OUT; i++) {
        struct config_text *t = &f->out[i];
        if (!(f->mask & 1u << i))
            continue;
        if (t->n > 0 && strchr("{[\n", t->s[t->n - 1]) == NULL)
            config_text_put(t, ", ");
        if (name != NULL) {
            config_text_scalar(t, name);
            config_text_put(t, ": ");
        }
    }
}

void config_fill_value(struct config_fill *f, const struct config_key *key, const struct config_value *value)
{
    config_text_clear(&f->scratch);
    config_value_write(&f->scratch, key, value);
    config_fill_put(f, f->scratch.s);
}

struct config_file *config_fill_file(struct config_fill *f, const struct config_key *key,
                                     const struct config_node *node)
{
    struct config_value value;
    if (config_value_read(&value, key, node, f->arena, f->err) != BRAID_OK)
        return NULL;
    struct config_file *file = config_files_at(&f->files, value.text);
    if (file == NULL) {
        config_fill_short(f);
        return NULL;
    }
    unsigned mask = f->mask;
    if (!(key->flags & KEY_NO_IDENTITY)) {
        if (config_files_digest(file, value.text, node->place, f->err) != BRAID_OK)
            return NULL;
        f->mask = mask & 1u << OUT_IDENTITY;
        config_fill_put(f, "sha256-");
        config_fill_put(f, file->hex);
        f->mask = mask & ~(1u << OUT_IDENTITY);
    }
    config_fill_value(f, key, &value);
    f->mask = mask;
    return file;
}

/* ---- one value --------------------------------------------------------------------------------- */

static void store(const struct config_key *key, const struct config_value *value, void *base)
{
    char *at = (char *)base + key->offset;
    uint32_t u32 = (uint32_t)value->v.i;
    int64_t i64 = value->v.i;
    double number = value->is_word ? (double)value->v.i : value->v.f;
    switch (key->store) {
    case STORE_NONE:
        break;
    case STORE_MILLI:
        u32 = value->is_word ? u32 : (uint32_t)llround(number * 1000);
        memcpy(at, &u32, sizeof u32);
        break;
    case STORE_U32:
    case STORE_ENUM:
        memcpy(at, &u32, sizeof u32);
        break;
    case STORE_I64:
    case STORE_U64:
        memcpy(at, &i64, sizeof i64);
        break;
    case STORE_DOUBLE:
        memcpy(at, &number, sizeof number);
        break;
    case STORE_BOOL:
        memcpy(at, &value->v.b, sizeof value->v.b);
        break;
    case STORE_TEXT: {
        const char *text = value->is_word ? "" : value->text;
        memcpy(at, &text, sizeof text);
        break;
    }
    case STORE_NUMBERS:
        memcpy(at, &value->v.list, sizeof value->v.list);
        break;
    }
}

/* One side of a window: a date, a time, or the word that leaves it open. */
static int fill_window_side(struct config_fill *f, const struct config_node *node, const char *word, bool *has,
                            int64_t *ns, bool *is_time)
{
    size_t n = node->kind == CONFIG_SCALAR ? strlen(node->text) : 0;
    *has = node->kind != CONFIG_SCALAR || strcmp(node->text, word) != 0;
    config_fill_key(f, NULL);
    if (!*has) {
        config_fill_put(f, word);
        return BRAID_OK;
    }
    config_text_clear(&f->scratch);
    if (number_parse_datetime(node->kind == CONFIG_SCALAR ? node->text : "", n, ns)) {
        int64_t year, days = *ns / (86400 * NS_PER_S), s = *ns / NS_PER_S % 86400;
        int month, day;
        date_from_days(days, &year, &month, &day);
        *is_time = false;
        config_text_format(&f->scratch, "\"%04d-%02d-%02d %02d:%02d:%02d", (int)year, month, day, (int)(s / 3600),
                           (int)(s / 60 % 60), (int)(s % 60));
        if (*ns % NS_PER_S != 0)
            config_text_format(&f->scratch, ".%09d", (int)(*ns % NS_PER_S));
        config_text_put(&f->scratch, "\"");
    } else {
        const struct config_key key = {
            .section = "trace", .name = "window", .type = KEY_TIME, .word = word, .max = 3153600000.0};
        struct config_value value;
        bool is_date_like = n >= 8 && strspn(node->text, "0123456789") == 4 && node->text[4] == '-';
        if (is_date_like)
            return config_fail(f->err, node->place,
                               "'trace.window': '%.60s' is no date; write YYYY-MM-DD or "
                               "\"YYYY-MM-DD HH:MM:SS\", from 1970 to 2200",
                               node->text);
        int status = config_value_read(&value, &key, node, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        *is_time = true;
        *ns = value.v.i;
        config_text_time(&f->scratch, *ns);
    }
    config_fill_put(f, f->scratch.s);
    return BRAID_OK;
}

static int fill_window(struct config_fill *f, const struct config_node *node)
{
    struct trace_spec *t = &f->run->trace;
    bool begin_is_time = false, end_is_time = false;
    if (node->kind != CONFIG_LIST || node->n != 2)
        return config_fail(f->err, node->place, "'trace.window' wants a list of two, [begin, end]");
    config_fill_put(f, "[");
    int status = fill_window_side(f, node->items[0].value, "start", &t->has_begin, &t->begin_ns, &begin_is_time);
    if (status == BRAID_OK)
        status = fill_window_side(f, node->items[1].value, "end", &t->has_end, &t->end_ns, &end_is_time);
    if (status != BRAID_OK)
        return status;
    config_fill_put(f, "]");
    const struct config_place end = node->items[1].value->place;
    if (t->has_begin && t->has_end && begin_is_time != end_is_time)
        return config_fail(f->err, end, "'trace.window' mixes a date and a time; write two dates or two times");
    if (t->has_begin && t->has_end && t->end_ns <= t->begin_ns)
        return config_fail(f->err, end, "'trace.window' ends before it begins");
    t->window_is_relative = begin_is_time || end_is_time;
    return BRAID_OK;
}

/* trace.vcs: a list of texts, or the word for all. */
static int fill_texts(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    const struct config_key each = {.section = key->section, .name = key->name, .type = KEY_TEXT};
    struct trace_spec *t = &f->run->trace;
    if (node->kind == CONFIG_SCALAR && strcmp(node->text, key->word) == 0) {
        config_fill_put(f, key->word);
        return BRAID_OK;
    }
    if (node->kind != CONFIG_LIST || node->n == 0)
        return config_fail(f->err, node->place, "'%s.%s' wants a list of names such as [a, b], or '%s'", key->section,
                           key->name, key->word);
    const char **texts = ARENA_NEW(f->arena, const char *, node->n);
    if (texts == NULL)
        return config_fill_short(f);
    config_fill_put(f, "[");
    for (uint32_t i = 0; i < node->n; i++) {
        struct config_value value;
        int status = config_value_read(&value, &each, node->items[i].value, f->arena, f->err);
        if (status != BRAID_OK)
            return status;
        texts[i] = value.text;
        config_fill_key(f, NULL);
        config_fill_value(f, &each, &value);
    }
    config_fill_put(f, "]");
    t->vcs = texts;
    t->n_vcs = node->n;
    return BRAID_OK;
}

static int fill_path(struct config_fill *f, const struct config_key *key, const struct config_node *node, void *base)
{
    struct config_file *file = config_fill_file(f, key, node);
    if (file == NULL)
        return f->err->code;
    memcpy((char *)base + key->offset, &file->path, sizeof file->path);
    memcpy((char *)base + key->shown, &node->text, sizeof node->text);
    if (strcmp(key->section, "trace") == 0 && strcmp(key->name, "path") == 0) { /* looked for when it is read */
        struct trace_spec *trace = &f->run->trace;
        trace->place.file = arena_text(f->arena, node->place.file, strlen(node->place.file));
        trace->place.line = node->place.line;
        trace->place.col = node->place.col;
        if (trace->place.file == NULL)
            return config_fill_short(f);
    }
    return BRAID_OK;
}

/* Texts that name something of which another room keeps the list. */
static int check_text(struct config_fill *f, const struct config_key *key, const struct config_node *node)
{
    const char *names[NAMES_MAX] = {"auto"};
    size_t n = 0;
    if (strcmp(key->section, "trace") == 0 && strcmp(key->name, "format") == 0) {
        const struct trace_reader *const *readers = reader_list();
        for (n = 1; n < NAMES_MAX && readers[n - 1] != NULL; n++)
            names[n] = readers[n - 1]->name;
    } else if (strcmp(key->section, "trace.generate") == 0 && strcmp(key->name, "model") == 0) {
        const char *const *models = generator_models();
        for (n = 0; n < NAMES_MAX && models[n] != NULL; n++)
            names[n] = models[n];
    }
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], node->text) == 0)
            return BRAID_OK;
    char what[PATH_SIZE];
    snprintf(what, sizeof what, "'%s.%s'", key->section, key->name);
    return n == 0 ? BRAID_OK : config_fail_unknown(f->err, node->place, what, node->text, names, n);
}

static int fill_scalar(struct config_fill *f, const struct config_key *key, const struct config_node *node, void *base)
{
    struct config_value value;
    int status = config_value_read(&value, key, node, f->arena, f->err);
    if (status != BRAID_OK)
        return status;
    status = check_text(f, key, node);
    if (status != BRAID_OK)
        return status;
    store(key, &value, base);
    config_fill_value(f, key, &value);
    return BRAID_OK;
}

/* A map (or its short form) in braces. */
static int fill_map(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                    struct config_place here, void *base)
{
    char path[PATH_SIZE];
    config_key_path(key, path, sizeof path);
    struct config_item item;
    struct config_node map;
    if (node != NULL && node->kind == CONFIG_SCALAR && key->short_key != NULL &&
        (node->is_quoted || node->text[0] != '\0')) {
        item = (struct config_item){.key = key->short_key, .key_place = node->place, .value = node};
        map = (struct config_node){.kind = CONFIG_MAP, .place = node->place, .n = 1, .items = &item};
        node = &map;
    }
    if (node != NULL && node->kind != CONFIG_MAP) {
        size_t n_keys;
        const char *first = config_section(path, &n_keys)->name;
        return config_fail(f->err, node->place, "'%s' must be a map such as {%s: ...}%s", path, first,
                           node->kind == CONFIG_LIST ? ", not a list" : "");
    }
    config_fill_put(f, "{");
    size_t text_at = f->out[OUT_YAML].n;
    int status = config_fill_section(f, path, path, node, node != NULL ? node->place : here, base);
    config_fill_put(f, "}");
    if (status == BRAID_OK && strcmp(path, "cluster") == 0)
        status = config_fill_cluster(f, node, text_at);
    return status;
}

/* ---- a section --------------------------------------------------------------------------------- */

/* Does `key` count, by its `when`? A given key that cannot stand with its neighbours is an error. */
static int check_force(struct config_fill *f, const struct config_key *key, const char *shown,
                       const struct config_node *map, const struct config_item *item, bool *in_force)
{
    *in_force = true;
    if (key->when == NULL)
        return BRAID_OK;
    bool is_not = key->when[0] == '!';
    const char *name = key->when + is_not, *equals = strchr(name, '=');
    char other[64];
    snprintf(other, sizeof other, "%.*s", (int)(equals != NULL ? equals - name : (long)strlen(name)), name);
    const struct config_item *sibling = config_tree_find(map, other);
    if (equals != NULL) {
        const struct config_key *k = config_key_find(key->section, other);
        const char *value = sibling == NULL                         ? k->def
                            : sibling->value->kind == CONFIG_SCALAR ? sibling->value->text
                                                                    : "";
        *in_force = strcmp(value, equals + 1) == 0;
        return BRAID_OK;
    }
    *in_force = (sibling != NULL) != is_not;
    if (*in_force || item == NULL)
        return BRAID_OK;
    return is_not ? config_fail(f->err, item->key_place, "'%s.%s' cannot stand beside '%s'; leave one of them out",
                                shown, key->name, other)
                  : config_fail(f->err, item->key_place, "'%s.%s' needs '%s' beside it", shown, key->name, other);
}

static int fill_value(struct config_fill *f, const struct config_key *key, const struct config_node *node,
                      struct config_place here, void *base)
{
    if (key->type == KEY_SECTION)
        return fill_map(f, key, node, here, base);
    if (node == NULL && (node = config_default_node(f->arena, key, f->err)) == NULL)
        return BRAID_FAILED;
    void *at = (char *)base + key->offset;
    switch (key->type) {
    case KEY_PATH:
        return fill_path(f, key, node, base);
    case KEY_WINDOW:
        return fill_window(f, node);
    case KEY_TEXTS:
        if (strncmp(key->section, "trace.columns.", strlen("trace.columns.")) == 0)
            return config_fill_column_texts(f, key, node, base);
        return strcmp(key->section, "trace") == 0 ? fill_texts(f, key, node) : config_fill_kinds(f, key, node);
    case KEY_COLUMN:
        return config_fill_column(f, key, node);
    case KEY_GROUPS:
        return config_fill_groups(f, key, node);
    case KEY_ROUTE:
        return config_fill_route(f, key, node, at);
    case KEY_COUNTS:
        return config_fill_counts(f, key, node, base);
    case KEY_MATCH:
        return config_fill_match(f, key, node, at);
    case KEY_VCS:
        return config_fill_vcs(f, key, node);
    case KEY_STEPS:
        return config_fill_steps(f, key, node, base);
    case KEY_OVERHEAD:
        return config_fill_overhead(f, key, node, at);
    case KEY_POLICY:
        return config_fill_policy(f, key, node);
    case KEY_PLACEMENT:
        return config_fill_placement(f, key, node);
    default:
        return fill_scalar(f, key, node, base);
    }
}

/* Names of a section's keys, and a key of another section of that very name when none here is near. */
static int fail_unknown_key(struct config_fill *f, const char *section, const char *shown,
                            const struct config_item *item)
{
    const char *names[NAMES_MAX];
    char what[PATH_SIZE + 16], path[PATH_SIZE];
    size_t n;
    const struct config_key *keys = config_section(section, &n);
    for (size_t i = 0; i < n && i < NAMES_MAX; i++)
        names[i] = keys[i].name;
    if (text_nearest(item->key, names, n) == NULL)
        for (size_t i = 0; i < config_n_keys; i++)
            if (strcmp(config_keys[i].name, item->key) == 0 && strpbrk(config_keys[i].section, "[*") == NULL)
                return config_fail(f->err, item->key_place, "unknown key '%s'%s%s%s; did you mean '%s'?", item->key,
                                   shown[0] != '\0' ? " in '" : "", shown, shown[0] != '\0' ? "'" : "",
                                   config_key_path(&config_keys[i], path, sizeof path));
    snprintf(what, sizeof what, "key%s%s%s", shown[0] != '\0' ? " in '" : "", shown, shown[0] != '\0' ? "':" : "");
    return config_fail_unknown(f->err, item->key_place, what, item->key, names, n);
}

static unsigned outputs_of(const struct config_key *key, unsigned mask)
{
    if (key->section[0] == '\0') {
        mask &= ~(1u << OUT_TRACE_KEY);
        if (strcmp(key->name, "trace") == 0)
            mask |= 1u << OUT_TRACE_KEY;
    }
    if (key->flags & KEY_NO_RESULT)
        mask = 0;
    if (key->flags & KEY_NO_IDENTITY)
        mask &= ~(1u << OUT_IDENTITY);
    if (key->flags & KEY_NO_TRACE_KEY)
        mask &= ~(1u << OUT_TRACE_KEY);
    return mask;
}

int config_fill_section(struct config_fill *f, const char *section, const char *shown, const struct config_node *map,
                        struct config_place here, void *base)
{
    size_t n;
    const struct config_key *keys = config_section(section, &n);
    for (uint32_t i = 0; map != NULL && i < map->n; i++)
        if (config_key_find(section, map->items[i].key) == NULL)
            return fail_unknown_key(f, section, shown, &map->items[i]);
    unsigned mask = f->mask;
    for (size_t i = 0; i < n; i++) {
        struct config_key key = keys[i];
        const struct config_item *item = config_tree_find(map, key.name);
        bool in_force;
        int status = check_force(f, &key, shown, map, item, &in_force);
        if (status != BRAID_OK)
            return status;
        if (!in_force || key.type == KEY_SWEEP ||
            (item == NULL && key.def == NULL && key.type != KEY_SECTION && !(key.flags & KEY_REQUIRED)))
            continue;
        key.section = shown;
        if (item == NULL && key.flags & KEY_REQUIRED)
            return config_fail(f->err, here, "'%s%s%s' is missing%s", shown, shown[0] != '\0' ? "." : "", key.name,
                               strcmp(key.name, "trace") == 0  ? "; a config needs at least 'trace: PATH'"
                               : strcmp(section, "trace") == 0 ? "; name the trace's file, or make one with 'generate'"
                                                               : "");
        f->mask = outputs_of(&keys[i], mask);
        config_fill_key(f, key.name);
        status = fill_value(f, &key, item != NULL ? item->value : NULL, here, base);
        if (status != BRAID_OK)
            return status;
        if (section[0] == '\0')
            config_fill_put(f, "\n");
        f->mask = mask;
    }
    return BRAID_OK;
}

/* ---- a run ------------------------------------------------------------------------------------- */

static int check_deadlines(struct config_fill *f, const struct config_node *root)
{
    const struct config_item *trace = config_tree_find(root, "trace");
    const struct config_item *deadlines = trace != NULL ? config_tree_find(trace->value, "deadlines") : NULL;
    const struct config_item *factor = deadlines != NULL ? config_tree_find(deadlines->value, "factor") : NULL;
    const struct deadlines_spec *spec = &f->run->trace.deadlines;
    if (factor == NULL || (spec->factor.n == 2 && spec->factor.v[0] <= spec->factor.v[1]))
        return BRAID_OK;
    return config_fail(f->err, factor->value->place,
                       "'trace.deadlines.factor' wants two numbers, the lower one first, such as [0.5, 1.5]");
}

/* Two ways to set how fast jobs come. */
static int check_scale(struct config_fill *f, const struct config_node *root)
{
    const struct trace_spec *trace = &f->run->trace;
    if (trace->scale == 0 || trace->load == 0)
        return BRAID_OK;
    const struct config_item *section = config_tree_find(root, "trace"), *scale = config_tree_find(section->value, "scale");
    return config_fail(f->err, scale->key_place,
                       "'trace.scale' cannot stand beside 'trace.load'; leave one of them out: 'scale' is relative to the "
                       "record, 'load' to the capacity");
}

/* What one key alone cannot tell. */
static int check_together(struct config_fill *f, const struct config_node *root)
{
    struct run_config *run = f->run;
    const struct config_item *measure = config_tree_find(root, "measure");
    if (measure != NULL) {
        const struct config_item *from = config_tree_find(measure->value, "from");
        const struct config_item *to = config_tree_find(measure->value, "to");
        run->measure.has_from = from != NULL && strcmp(from->value->text, "start") != 0;
        if (to != NULL && run->measure.has_from && run->measure.to_ns <= run->measure.from_ns)
            return config_fail(f->err, to->value->place,
                               "'measure.to' is not after 'measure.from': no job would count");
    }
    int status = check_deadlines(f, root);
    if (status == BRAID_OK)
        status = check_scale(f, root);
    if (status == BRAID_OK)
        status = config_check_columns(f, root);
    return status == BRAID_OK ? config_check_mix(f, root) : status;
}

static int keep_texts(struct config_fill *f)
{
    struct run_config *run = f->run;
    struct trace_spec *trace = &run->trace;
    if (trace->is_generated) { /* -1: the word `run` */
        if (trace->generate.seed == UINT64_MAX)
            trace->generate.seed = run->seed;
        config_text_format(&f->out[OUT_TRACE_KEY], "seed: %llu\n", (unsigned long long)trace->generate.seed);
    }
    if (trace->bootstrap.days != BOOTSTRAP_NONE) {
        if (trace->bootstrap.seed == UINT64_MAX)
            trace->bootstrap.seed = run->seed;
        config_text_format(&f->out[OUT_TRACE_KEY], "bootstrap: %llu\n", (unsigned long long)trace->bootstrap.seed);
    }
    if (trace->stages.table != NULL) {
        if (trace->stages.seed == UINT64_MAX)
            trace->stages.seed = run->seed;
        config_text_format(&f->out[OUT_TRACE_KEY], "profiles: %llu\n", (unsigned long long)trace->stages.seed);
    }
    if (trace->deadlines.factor.n > 0) {
        if (trace->deadlines.seed == UINT64_MAX)
            trace->deadlines.seed = run->seed;
        config_text_format(&f->out[OUT_TRACE_KEY], "deadlines: %llu\n", (unsigned long long)trace->deadlines.seed);
    }
    const char **kept[N_OUT] = {&run->yaml, &run->identity, &run->trace_key};
    for (int i = 0; i < N_OUT; i++) {
        *kept[i] = arena_text(f->arena, f->out[i].s, f->out[i].n);
        if (f->out[i].is_short || *kept[i] == NULL || f->scratch.is_short)
            return config_fill_short(f);
    }
    return BRAID_OK;
}

int config_fill_run(struct config_fill *f, const struct config_node *root, struct run_config *run)
{
    f->run = run;
    f->mapping = NULL;
    f->here = root->place;
    for (int i = 0; i < N_OUT; i++)
        config_text_clear(&f->out[i]);
    f->mask = (1u << N_OUT) - 1;
    const struct config_item *trace = config_tree_find(root, "trace");
    run->trace.is_generated = trace != NULL && config_tree_find(trace->value, "generate") != NULL;
    const struct config_item *compat = config_tree_find(root, "compat");
    bool has_name = compat != NULL && compat->value->kind == CONFIG_SCALAR;
    f->compat = has_name ? compat_find(compat->value->text) : NULL;
    run->trace.format = "auto"; /* what is not in force keeps these */
    run->cluster.gpus_per_node = 8;
    int status = config_fill_section(f, "", "", root, root->place, run);
    if (status == BRAID_OK)
        status = check_together(f, root);
    if (status == BRAID_OK)
        status = keep_texts(f);
    return status;
}
