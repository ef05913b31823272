/* libyaml's events into a tree. A stack of open lists and maps, each with its items gathered on one shared pile:
 *
 *   open:   root map ── trace map            pile:  [name][trace: …][load]
 *                                                    ^ root begins   ^ trace begins
 *
 * When one closes, its items move from the pile to the arena.
 */
#include "base/names.h"
#include "base/config_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

struct anchor {
    const char *name;
    struct config_node *node;
    bool is_open;
};

struct open_node {
    struct config_node *node;
    size_t first_item; /* on the pile */
    const char *key;   /* of a map: the key that waits for its value */
    struct config_place key_place;
    size_t anchor; /* its anchor + 1, or 0 */
};

struct parse {
    struct arena *arena;
    struct error *err;
    struct config_place whole;
    const char *text;
    size_t n;
    yaml_parser_t parser;
    struct open_node open[CONFIG_DEPTH_MAX];
    uint32_t n_open;
    struct config_item *pile;
    size_t n_pile, pile_capacity;
    struct anchor *anchors;
    size_t n_anchors, anchors_capacity;
    uint64_t n_nodes; /* so far, aliases expanded */
    struct config_node *root;
};

static bool parse_short_of_memory(struct parse *p)
{
    error_set(p->err, BRAID_FAILED, "out of memory while reading %s", p->whole.file);
    return false;
}

/* The place of a mark; in text without lines of its own (`--set`) the whole text is the place. */
static struct config_place place_at(const struct parse *p, yaml_mark_t mark)
{
    if (p->whole.line == 0)
        return p->whole;
    return (struct config_place){p->whole.file, (int)mark.line + 1, (int)mark.column + 1};
}

#define PARSE_FAIL(p, mark, ...) (config_fail((p)->err, place_at((p), (mark)), __VA_ARGS__), false)

static bool grow(void **table, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return true;
    size_t more = *capacity == 0 ? 64 : *capacity * 2;
    void *grown = realloc(*table, more * size);
    if (grown == NULL)
        return false;
    *table = grown;
    *capacity = more;
    return true;
}

/* Put a finished value (or one that opens) where it belongs: the root, the next list item, the value of the waiting key. */
static bool place_value(struct parse *p, struct config_node *node)
{
    if (p->n_open == 0) {
        p->root = node;
        return true;
    }
    struct open_node *o = &p->open[p->n_open - 1];
    if (!grow((void **)&p->pile, &p->pile_capacity, p->n_pile + 1, sizeof *p->pile))
        return parse_short_of_memory(p);
    p->pile[p->n_pile++] = (struct config_item){.key = o->key, .key_place = o->key_place, .value = node};
    o->key = NULL;
    return true;
}

/* Is the next thing a map's key? */
static bool wants_key(const struct parse *p)
{
    return p->n_open > 0 && p->open[p->n_open - 1].node->kind == CONFIG_MAP && p->open[p->n_open - 1].key == NULL;
}

static struct config_node *new_node(struct parse *p, enum config_kind kind, yaml_mark_t mark)
{
    struct config_node *node = ARENA_NEW(p->arena, struct config_node, 1);
    if (node == NULL) {
        parse_short_of_memory(p);
        return NULL;
    }
    node->kind = kind;
    node->depth = node->size = 1;
    node->place = place_at(p, mark);
    return node;
}

static bool count_nodes(struct parse *p, uint64_t more, yaml_mark_t mark)
{
    p->n_nodes += more;
    if (p->n_nodes > CONFIG_NODES_MAX)
        return PARSE_FAIL(p, mark, "the config grows past %d values here%s; make it smaller", CONFIG_NODES_MAX,
                          more > 1 ? " when its aliases are expanded" : "");
    return true;
}

/* Remember an anchor; a name may be used again and then means the newer node. */
static bool add_anchor(struct parse *p, const yaml_char_t *name, struct config_node *node, bool is_open)
{
    if (name == NULL)
        return true;
    if (!grow((void **)&p->anchors, &p->anchors_capacity, p->n_anchors + 1, sizeof *p->anchors))
        return parse_short_of_memory(p);
    const char *copy = arena_text(p->arena, (const char *)name, strlen((const char *)name));
    if (copy == NULL)
        return parse_short_of_memory(p);
    p->anchors[p->n_anchors++] = (struct anchor){copy, node, is_open};
    return true;
}

static bool check_tag(struct parse *p, const yaml_char_t *tag, yaml_mark_t mark)
{
    if (tag == NULL)
        return true;
    return PARSE_FAIL(p, mark, "a YAML tag ('%s') has no place in a config; leave it out", (const char *)tag);
}

static bool on_alias(struct parse *p, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    if (wants_key(p))
        return PARSE_FAIL(p, e->start_mark, "an alias ('*%s') cannot be a key; write the key out", name);
    for (size_t i = p->n_anchors; i-- > 0;) {
        const struct anchor *a = &p->anchors[i];
        if (strcmp(a->name, name) != 0)
            continue;
        if (a->is_open)
            return PARSE_FAIL(p, e->start_mark,
                              "alias '*%s' stands inside the value that '&%s' names (line %d): it would "
                              "contain itself",
                              name, name, a->node->place.line);
        if (p->n_open + a->node->depth > CONFIG_DEPTH_MAX)
            return PARSE_FAIL(p, e->start_mark, "nested deeper than %d levels when alias '*%s' is expanded",
                              CONFIG_DEPTH_MAX, name);
        return count_nodes(p, a->node->size, e->start_mark) && place_value(p, a->node);
    }
    return PARSE_FAIL(p, e->start_mark, "alias '*%s' names no anchor; '&%s' must stand before it", name, name);
}

static bool on_scalar(struct parse *p, const yaml_event_t *e)
{
    const char *value = (const char *)e->data.scalar.value;
    size_t length = e->data.scalar.length;
    bool is_plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (!check_tag(p, e->data.scalar.tag, e->start_mark))
        return false;
    if (memchr(value, '\0', length) != NULL)
        return PARSE_FAIL(p, e->start_mark, "a NUL character in a text");
    const char *text = arena_text(p->arena, value, length);
    if (text == NULL)
        return parse_short_of_memory(p);
    if (wants_key(p)) {
        struct open_node *o = &p->open[p->n_open - 1];
        if (is_plain && strcmp(text, "<<") == 0)
            return PARSE_FAIL(p, e->start_mark,
                              "merge keys ('<<') are not supported; write the keys out, or use an alias "
                              "for a whole value");
        o->key = text;
        o->key_place = place_at(p, e->start_mark);
        return true;
    }
    struct config_node *node = new_node(p, CONFIG_SCALAR, e->start_mark);
    if (node == NULL)
        return false;
    node->text = text;
    node->is_quoted = !is_plain;
    return count_nodes(p, 1, e->start_mark) && add_anchor(p, e->data.scalar.anchor, node, false) &&
           place_value(p, node);
}

static bool on_open(struct parse *p, const yaml_event_t *e, enum config_kind kind)
{
    bool is_map = kind == CONFIG_MAP;
    const yaml_char_t *anchor = is_map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
    if (!check_tag(p, is_map ? e->data.mapping_start.tag : e->data.sequence_start.tag, e->start_mark))
        return false;
    if (wants_key(p))
        return PARSE_FAIL(p, e->start_mark, "a key must be a text, not a %s", is_map ? "map" : "list");
    if (p->n_open == CONFIG_DEPTH_MAX)
        return PARSE_FAIL(p, e->start_mark, "nested deeper than %d levels", CONFIG_DEPTH_MAX);
    struct config_node *node = new_node(p, kind, e->start_mark);
    if (node == NULL || !count_nodes(p, 1, e->start_mark) || !add_anchor(p, anchor, node, true) ||
        !place_value(p, node))
        return false;
    p->open[p->n_open++] =
        (struct open_node){.node = node, .first_item = p->n_pile, .anchor = anchor != NULL ? p->n_anchors : 0};
    return true;
}

/* The second of two equal keys, or n; hashed, since a map may have many keys. False: memory is out. */
static bool find_repeated(const struct config_item *items, size_t n, size_t *first, size_t *second)
{
    struct names names;
    names_init(&names);
    bool ok = true;
    *second = n;
    for (size_t i = 0; i < n && ok && *second == n; i++) {
        uint32_t id = names_add(&names, items[i].key, strlen(items[i].key));
        ok = id != NAMES_NONE;
        if (ok && names.count == i) { /* not new: ids run with the items until the first repetition */
            *first = id;
            *second = i;
        }
    }
    names_fini(&names);
    return ok;
}

static bool on_close(struct parse *p, const yaml_event_t *e)
{
    struct open_node *o = &p->open[--p->n_open];
    struct config_node *node = o->node;
    struct config_item *items = p->pile != NULL ? p->pile + o->first_item : NULL; /* nothing came yet: no pile */
    size_t n = p->n_pile - o->first_item;
    (void)e;
    if (node->kind == CONFIG_MAP) {
        size_t first = 0, second;
        if (!find_repeated(items, n, &first, &second))
            return parse_short_of_memory(p);
        if (second < n) {
            if (p->whole.line == 0)
                config_fail(p->err, p->whole, "key '%s' is repeated", items[second].key);
            else
                config_fail(p->err, items[second].key_place, "key '%s' is repeated; it stands in line %d already",
                            items[second].key, items[first].key_place.line);
            return false;
        }
    }
    struct config_item *kept = ARENA_NEW(p->arena, struct config_item, n);
    if (kept == NULL)
        return parse_short_of_memory(p);
    if (n > 0)
        memcpy(kept, items, n * sizeof *kept);
    node->items = kept;
    node->n = (uint32_t)n;
    uint32_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        node->size += kept[i].value->size; /* at most CONFIG_NODES_MAX in all: checked as they came */
        depth = kept[i].value->depth > depth ? kept[i].value->depth : depth;
    }
    node->depth = depth + 1;
    p->n_pile = o->first_item;
    if (o->anchor != 0)
        p->anchors[o->anchor - 1].is_open = false;
    return true;
}

static bool on_parser_error(struct parse *p)
{
    const yaml_parser_t *y = &p->parser;
    if (y->error == YAML_MEMORY_ERROR)
        return parse_short_of_memory(p);
    const char *problem = y->problem != NULL ? y->problem : "unreadable";
    size_t at = y->problem_mark.index; /* in characters: the byte is at or behind it */
    yaml_mark_t mark = y->problem_mark;
    size_t byte = 0;
    for (size_t i = 0; byte < p->n && i < at; i++)
        do
            byte++;
        while (byte < p->n && ((unsigned char)p->text[byte] & 0xc0) == 0x80);
    if (byte < p->n && p->text[byte] == '\t')
        return PARSE_FAIL(p, mark, "a tab character cannot stand here; indent with spaces");
    if (y->context != NULL && y->context_mark.line != mark.line)
        return PARSE_FAIL(p, mark, "not valid YAML: %s (%s that begins in line %d)", problem, y->context,
                          (int)y->context_mark.line + 1);
    return PARSE_FAIL(p, mark, "not valid YAML: %s%s%s", problem, y->context != NULL ? " " : "",
                      y->context != NULL ? y->context : "");
}

static bool on_event(struct parse *p, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (p->root != NULL)
            return PARSE_FAIL(p, e->start_mark, "a second YAML document begins here; a config is one document");
        return true;
    case YAML_ALIAS_EVENT:
        return on_alias(p, e);
    case YAML_SCALAR_EVENT:
        return on_scalar(p, e);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(p, e, CONFIG_LIST);
    case YAML_MAPPING_START_EVENT:
        return on_open(p, e, CONFIG_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_close(p, e);
    default:
        return true;
    }
}

/* libyaml wants valid UTF-8 and gives no place for what is not; control characters are refused on the way. */
static bool check_utf8(struct parse *p)
{
    const unsigned char *s = (const unsigned char *)p->text;
    yaml_mark_t mark = {0};
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* shorter forms exist below these */
    if (p->n >= 2 && ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff)))
        return PARSE_FAIL(p, mark, "the file is UTF-16; store it as UTF-8");
    for (size_t i = 0; i < p->n;) {
        unsigned char c = s[i];
        size_t length = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
        bool ok = length != 0 && length <= p->n - i;
        uint32_t code = length <= 1 ? c : c & (0x7fu >> length);
        for (size_t k = 1; ok && k < length; k++) {
            ok = (s[i + k] & 0xc0) == 0x80;
            code = code << 6 | (s[i + k] & 0x3fu);
        }
        if (!ok || code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return PARSE_FAIL(p, mark, "byte 0x%02x is not UTF-8; store the file as UTF-8", c);
        if ((code < 0x20 && c != '\t' && c != '\n' && c != '\r') || (code >= 0x7f && code < 0xa0 && code != 0x85) ||
            code == 0xfeff || code == 0xfffe || code == 0xffff)
            return PARSE_FAIL(p, mark, "character U+%04X is not text; remove it", code);
        mark.column++;
        if (c == '\n') {
            mark.line++;
            mark.column = 0;
        }
        i += length;
    }
    return true;
}

static bool parse_all(struct parse *p)
{
    if (!check_utf8(p))
        return false;
    if (!yaml_parser_initialize(&p->parser))
        return parse_short_of_memory(p);
    yaml_parser_set_input_string(&p->parser, (const unsigned char *)p->text, p->n);
    yaml_parser_set_encoding(&p->parser, YAML_UTF8_ENCODING);
    bool ok = true, done = false;
    while (ok && !done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&p->parser, &event)) {
            ok = on_parser_error(p);
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        ok = on_event(p, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&p->parser);
    return ok;
}

const struct config_node *config_tree_parse(struct arena *a, const char *text, size_t n, struct config_place whole,
                                            struct error *err)
{
    struct parse p = {.arena = a, .err = err, .whole = whole, .text = text, .n = n};
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark is no content */
        p.text += 3;
        p.n -= 3;
    }
    bool ok = parse_all(&p);
    free(p.pile);
    free(p.anchors);
    if (!ok)
        return NULL;
    if (p.root == NULL && whole.line != 0)
        config_fail(err, (struct config_place){whole.file, 0, 0},
                    "the config is empty; it needs at least 'trace: PATH'");
    else if (p.root == NULL)
        config_fail(err, whole, "a value is missing");
    return p.root;
}

/* The bytes of a file, at most CONFIG_BYTES_MAX. To be freed; NULL with `err`. */
static char *read_file(const char *path, struct config_place at, size_t *n, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        config_fail(err, at, "cannot open the config: %s", strerror(errno));
        return NULL;
    }
    struct stat st;
    char *bytes = NULL;
    size_t capacity = 0;
    *n = 0;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        config_fail(err, at, "is a folder; name a config file in it");
        goto fail;
    }
    for (;;) {
        if (capacity - *n < 65536) {
            char *grown = realloc(bytes, capacity = capacity * 2 + 65536);
            if (grown == NULL) {
                error_set(err, BRAID_FAILED, "out of memory while reading %s", at.file);
                goto fail;
            }
            bytes = grown;
        }
        ssize_t got = read(fd, bytes + *n, capacity - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            config_fail(err, at, "cannot read the config: %s", strerror(errno));
            goto fail;
        }
        if (got == 0)
            break;
        *n += (size_t)got;
        if (*n > CONFIG_BYTES_MAX) {
            config_fail(err, at, "is larger than %d MiB, which no config is; is it the right file?",
                        CONFIG_BYTES_MAX >> 20);
            goto fail;
        }
    }
    close(fd);
    return bytes;
fail:
    free(bytes);
    close(fd);
    return NULL;
}

const struct config_node *config_tree_load(struct arena *a, const char *path, const char *shown, struct error *err)
{
    size_t n;
    char *bytes = read_file(path, (struct config_place){shown, 0, 0}, &n, err);
    if (bytes == NULL)
        return NULL;
    const struct config_node *root = config_tree_parse(a, bytes, n, (struct config_place){shown, 1, 1}, err);
    free(bytes);
    return root;
}
