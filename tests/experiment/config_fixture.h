/* config_fixture.h - configs in a folder of their own, which goes away with the test. */
#ifndef TESTS_EXPERIMENT_CONFIG_FIXTURE_H
#define TESTS_EXPERIMENT_CONFIG_FIXTURE_H

#include "experiment/experiment.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char folder[200];
    struct experiment x;
    struct error err;
    int status;
};

static inline void fixture_init(struct fixture *f)
{
    const char *base = getenv("TMPDIR");
    *f = (struct fixture){0};
    snprintf(f->folder, sizeof f->folder, "%s/braid-config-XXXXXX", base != NULL && strlen(base) < 150 ? base : "/tmp");
    cr_assert_not_null(mkdtemp(f->folder));
}

static inline void fixture_fini(struct fixture *f)
{
    DIR *d = opendir(f->folder);
    cr_assert_not_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", f->folder, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            cr_assert_eq(remove(path), 0);
    }
    closedir(d);
    cr_assert_eq(rmdir(f->folder), 0);
}

static inline void fixture_write(struct fixture *f, const char *name, const char *bytes, size_t n)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    FILE *out = fopen(path, "wb");
    cr_assert_not_null(out);
    cr_assert_eq(fwrite(bytes, 1, n, out), n);
    cr_assert_eq(fclose(out), 0);
}

/* Load `yaml` as c.yaml with one --set (or NULL); end with fixture_unload. */
static inline int fixture_load(struct fixture *f, const char *yaml, const char *set)
{
    char path[512];
    const struct config_override override = {set};
    fixture_write(f, "c.yaml", yaml, strlen(yaml));
    snprintf(path, sizeof path, "%s/c.yaml", f->folder);
    f->err = (struct error){0};
    f->status = experiment_load(&f->x, path, &override, set != NULL ? 1 : 0, &f->err);
    return f->status;
}

static inline void fixture_unload(struct fixture *f)
{
    experiment_fini(&f->x);
}

/* The error of the last load without the folder: "c.yaml:2:7: message". */
static inline const char *fixture_error(struct fixture *f, char *out, size_t size)
{
    char text[1200], prefix[256];
    error_text(&f->err, text, sizeof text);
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "%s/", f->folder);
    snprintf(out, size, "%s", strncmp(text, prefix, n) == 0 ? text + n : text);
    return out;
}

struct bad_config {
    const char *yaml, *error; /* the whole message, or its beginning when it ends in "..." */
};

static inline void expect_bad(const struct bad_config *cases, size_t n)
{
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < n; i++) {
        char error[1200];
        const char *want = cases[i].error;
        size_t length = strlen(want);
        bool is_open = length > 3 && strcmp(want + length - 3, "...") == 0;
        int status = fixture_load(&f, cases[i].yaml, NULL);
        cr_expect_eq(status, BRAID_BAD_INPUT, "not refused:\n%s", cases[i].yaml);
        if (status == BRAID_OK) {
            fixture_unload(&f);
            continue;
        }
        fixture_error(&f, error, sizeof error);
        cr_expect(is_open ? strncmp(error, want, length - 3) == 0 : strcmp(error, want) == 0,
                  "config:\n%s\nsays:  %s\nwanted %s", cases[i].yaml, error, want);
    }
    fixture_fini(&f);
}

#define EXPECT_BAD(cases) expect_bad((cases), sizeof(cases) / sizeof(cases)[0])

#endif
