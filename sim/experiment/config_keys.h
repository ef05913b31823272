/* config_keys.h - the one table of config keys. Checks, defaults, messages and docs/config.md are made from it. */
#ifndef EXPERIMENT_CONFIG_KEYS_H
#define EXPERIMENT_CONFIG_KEYS_H

#include <braid/policy.h>
#include <stddef.h>
#include <stdint.h>

enum key_type {
    KEY_INT,      /* .i, a whole number */
    KEY_NUMBER,   /* .f */
    KEY_TIME,     /* .i, ns; a bare number counts seconds; range in seconds */
    KEY_SIZE,     /* .i, KiB; range in KiB */
    KEY_BOOL,     /* .b: true false on off */
    KEY_SWITCH,   /* .i, enum series_switch: true false on off auto */
    KEY_TEXT,     /* .s */
    KEY_PATH,     /* .s, a file beside the config */
    KEY_CHOICE,   /* .s, and .i in enum order where it is stored as one */
    KEY_NUMBERS,  /* .list */
    KEY_TEXTS,    /* a list of texts, or the word */
    KEY_WINDOW,   /* [begin, end] */
    KEY_STEPS,    /* a map of GPUs to times */
    KEY_OVERHEAD, /* a time, or a map with the keys of model.*_overhead */
    KEY_SECTION,  /* a map with keys of its own */
    KEY_GROUPS,   /* a list of maps with the keys of cluster.nodes[] */
    KEY_ROUTE,    /* a map with the keys of cluster.vcs.NAME.jobs */
    KEY_COUNTS,   /* a number or a condition on one: ">= 8" */
    KEY_MATCH,    /* a text with `*` and `?`, or a list of them */
    KEY_VCS,      /* a map of names to maps with the keys of cluster.vcs.NAME */
    KEY_POLICY,
    KEY_PLACEMENT,
    KEY_SWEEP,
    KEY_COLUMN, /* the name of a column, or a map with the keys of trace.columns.NAME */
};

/* How a value is laid down at `offset` of the section's struct. */
enum key_store {
    STORE_NONE,
    STORE_U32,
    STORE_I64,
    STORE_U64,
    STORE_DOUBLE,
    STORE_MILLI,
    STORE_BOOL,
    STORE_ENUM,
    STORE_TEXT,
    STORE_NUMBERS /* as the `list` of union param */
};

enum key_flags {
    KEY_REQUIRED = 1,     /* an error when it is left out while in force */
    KEY_NO_RESULT = 2,    /* does not decide the result: not in `yaml` and `identity`, not to be swept */
    KEY_NO_IDENTITY = 4,  /* in `yaml` but not in `identity` */
    KEY_NO_TRACE_KEY = 8, /* of trace: applied after reading */
};

struct config_key {
    const char *section, *name; /* "trace", "load": the key trace.load; section "" for the top */
    enum key_type type;
    const char *def;  /* default as YAML text; NULL: nothing */
    const char *word; /* a word that may stand for a value ("all"), stored as `word_value` */
    int64_t word_value;
    double min, max; /* inclusive; both 0 = no range */
    const char *unit;
    const char *choices;   /* KEY_CHOICE: "a|b|c" */
    const char *when;      /* in force only if: "x" x is given, "!x" x is not given (else an error), "x=y" x is y */
    const char *short_key; /* a scalar in place of this map is the value of that key */
    unsigned flags;
    enum key_store store;
    size_t offset;
    size_t shown; /* KEY_PATH: where the path as written is laid down */
    const char *help;
};

extern const struct config_key config_keys[];
extern const size_t config_n_keys;

/* The keys of a section, which stand together in the table; `*n` receives their number (0: no such section). */
const struct config_key *config_section(const char *section, size_t *n);

/* A key by section and name, or NULL. */
const struct config_key *config_key_find(const char *section, const char *name);

/* "trace" -> "path", "policy" -> "name": as which key a scalar at the dotted `path` is understood; NULL: none. */
const char *config_short_key(const char *path);

/* A policy's or placement's parameter as a key, so that both are checked by the same code. */
struct config_key config_key_of_param(const char *section, const struct param_spec *p);

/* "section.name" or "name" into `out`; returns `out`. */
const char *config_key_path(const struct config_key *key, char *out, size_t size);

#endif
