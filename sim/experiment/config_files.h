/* config_files.h - the files that a config names: where they are, and SHA-256 over what they hold. */
#ifndef EXPERIMENT_CONFIG_FILES_H
#define EXPERIMENT_CONFIG_FILES_H

#include "base/digest.h"
#include "base/names.h"
#include "base/config_tree.h"

struct overhead_rule;
struct policy_ops;

struct config_file {
    const char *path;         /* as it can be opened */
    char hex[DIGEST_HEX + 1]; /* "" until config_files_digest */
    /* What was read from it, once for all runs; NULL before. */
    const struct overhead_rule *table;
    const struct policy_ops *plugin;
    void *library; /* the plugin's */
};

struct config_files {
    const char *folder; /* of the config, with its last '/'; "" for the working directory */
    struct names shown;
    struct config_file **files; /* by id in `shown` */
    uint32_t capacity;
    struct arena *arena;
};

/* `config_path` is that of the config; paths are relative to its folder. False when memory is out. */
bool config_files_init(struct config_files *f, const char *config_path, struct arena *arena);
void config_files_fini(struct config_files *f);

/* The file that is shown as `shown`, the same for equal texts; it need not exist. NULL when memory is out. */
struct config_file *config_files_at(struct config_files *f, const char *shown);

/* Fill file->hex once. BRAID_BAD_INPUT at `place` when the file cannot be read. */
int config_files_digest(struct config_file *file, const char *shown, struct config_place place, struct error *err);

#endif
