#include "experiment/parts.h"

#include "base/number.h"
#include "output/export_file.h"
#include "output/results_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char cost_header[] = "run,wall_s,cpu_s,peak_memory_mb,threads,finished_at\n";

static int fail_at(const char *path, const char *what, int number, struct error *err)
{
    char text[128];
    const char *mend = number == EACCES || number == EROFS || number == EPERM ? "; choose another place with -o"
                       : number == ENOENT                                     ? "; make the folder first"
                                                                              : "";
    return error_at(err, BRAID_FAILED, path, 0, 0, "%s: %s%s", what, strerror_r(number, text, sizeof text), mend);
}

static int out_of_memory(struct error *err)
{
    return error_set(err, BRAID_FAILED, "out of memory");
}

/* ---- the folder and its lock ---- */

static void paths_free(struct parts *p)
{
    free(p->folder);
    free(p->cost_path);
    free(p->final_cost_path);
}

static bool paths_make(struct parts *p)
{
    size_t n = strlen(p->output);
    int stem = (int)(n > 3 && strcmp(p->output + n - 3, ".h5") == 0 ? n - 3 : n);
    if (asprintf(&p->folder, "%s.parts", p->output) < 0)
        p->folder = NULL;
    if (asprintf(&p->cost_path, "%s.parts/cost.csv", p->output) < 0)
        p->cost_path = NULL;
    if (asprintf(&p->final_cost_path, "%.*s.cost.csv", stem, p->output) < 0)
        p->final_cost_path = NULL;
    return p->folder != NULL && p->cost_path != NULL && p->final_cost_path != NULL;
}

/* The folder may be removed by the process that held the lock while we waited to open: then we begin anew. */
static int lock_take(struct parts *p, struct error *err)
{
    char *path;
    int status = 0;
    if (asprintf(&path, "%s/.lock", p->folder) < 0)
        return out_of_memory(err);
    for (;;) {
        if (mkdir(p->folder, 0777) != 0 && errno != EEXIST) {
            status = fail_at(p->folder, "cannot make this folder", errno, err);
            break;
        }
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 && errno == ENOENT)
            continue;
        if (fd < 0) {
            status = fail_at(path, "cannot write", errno, err);
            break;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            status = errno == EWOULDBLOCK
                         ? error_at(err, BRAID_FAILED, p->output, 0, 0,
                                    "another braid is computing this file; wait for it, or choose another with -o")
                         : fail_at(path, "cannot lock", errno, err);
            close(fd);
            break;
        }
        struct stat mine, named;
        if (fstat(fd, &mine) == 0 && stat(path, &named) == 0 && mine.st_ino == named.st_ino &&
            mine.st_dev == named.st_dev) {
            p->lock = fd;
            break;
        }
        close(fd);
    }
    free(path);
    return status;
}

/* ---- what is stored ---- */

static int compare_stored(const void *a, const void *b)
{
    const struct stored_run *x = a, *y = b;
    int by_id = strcmp(x->id, y->id);
    return by_id != 0 ? by_id : (int)x->is_in_final - (int)y->is_in_final;
}

/* Add the runs of one file that did not fail. A file that is no results file counts as not there: its runs are computed again. */
static int stored_add(struct parts *p, const char *path, bool is_final, struct error *err)
{
    struct results_source s;
    if (results_source_open(&s, path, NULL) != 0)
        return 0;
    struct stored_run *stored = realloc(p->stored, ((size_t)p->n_stored + s.n_runs + 1) * sizeof *stored);
    int status = stored == NULL ? out_of_memory(err) : 0;
    if (stored != NULL)
        p->stored = stored;
    for (uint32_t i = 0; status == 0 && i < s.n_runs; i++) {
        struct stored_run *run = &p->stored[p->n_stored];
        if (s.runs[i].status == RUN_FAILED || results_source_describe(&s, i, run->described, NULL) != 0)
            continue;
        memcpy(run->id, s.runs[i].id, sizeof run->id);
        run->is_in_final = is_final;
        p->n_stored++;
    }
    results_source_fini(&s);
    return status;
}

/* Is this the name of a part: 16 hex digits and ".h5"? */
static bool is_part(const char *name)
{
    return strspn(name, "0123456789abcdef") == RUN_ID_HEX && strcmp(name + RUN_ID_HEX, ".h5") == 0;
}

static int stored_list(struct parts *p, struct error *err)
{
    DIR *folder = opendir(p->folder);
    if (folder == NULL)
        return fail_at(p->folder, "cannot read this folder", errno, err);
    int status = stored_add(p, p->output, true, err);
    for (struct dirent *e; status == 0 && (e = readdir(folder)) != NULL;) {
        char *path;
        if (!is_part(e->d_name))
            continue;
        if (asprintf(&path, "%s/%s", p->folder, e->d_name) < 0) {
            status = out_of_memory(err);
            break;
        }
        status = stored_add(p, path, false, err);
        free(path);
    }
    closedir(folder);
    if (p->n_stored > 1)
        qsort(p->stored, p->n_stored, sizeof *p->stored, compare_stored);
    return status;
}

/* Told before anything is computed. */
static int regular_only(const char *path, struct error *err)
{
    char *place = outfile_regular(path, err);
    free(place);
    return place != NULL ? 0 : err->code;
}

int parts_open(struct parts *p, const char *output, bool resume, struct error *err)
{
    *p = (struct parts){.output = output, .lock = -1};
    int status = paths_make(p) ? 0 : out_of_memory(err);
    if (status == 0)
        status = regular_only(output, err);
    if (status == 0)
        status = regular_only(p->final_cost_path, err);
    if (status == 0)
        status = lock_take(p, err);
    if (status == 0 && resume)
        status = stored_list(p, err);
    if (status != 0) {
        if (p->lock >= 0)
            parts_close(p);
        else
            paths_free(p);
    }
    return status;
}

static bool ends_in(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);
    return n >= k && strcmp(name + n - k, ending) == 0;
}

/* Remove the files of the folder whose names are `wanted`. */
static void remove_if(const struct parts *p, bool (*wanted)(const char *name))
{
    DIR *folder = opendir(p->folder);
    if (folder == NULL)
        return;
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        if (wanted(e->d_name))
            unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
}

/* Rows of failed runs, which are computed again, and what killed processes left. */
static bool is_remains(const char *name)
{
    return ends_in(name, ".failed.h5") || ends_in(name, ".tmp");
}

void parts_close(struct parts *p)
{
    remove_if(p, is_remains);
    char *path;
    if (asprintf(&path, "%s/.lock", p->folder) >= 0) {
        unlink(path); /* while it is locked: whoever opened it meanwhile sees that it is gone */
        free(path);
    }
    rmdir(p->folder); /* only when it is empty */
    close(p->lock);
    free(p->stored);
    paths_free(p);
}

const struct stored_run *parts_find(const struct parts *p, const char *id, const uint8_t described[DIGEST_BYTES])
{
    uint32_t low = 0, high = p->n_stored;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(p->stored[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->n_stored && strcmp(p->stored[low].id, id) == 0; low++)
        if (memcmp(p->stored[low].described, described, DIGEST_BYTES) == 0)
            return &p->stored[low];
    return NULL;
}

char *parts_path(const struct parts *p, const char *id, bool is_failed)
{
    char *path;
    return asprintf(&path, "%s/%s%s.h5", p->folder, id, is_failed ? ".failed" : "") < 0 ? NULL : path;
}

/* ---- costs ---- */

int parts_add_cost(const struct parts *p, const char *id, const struct run_cost *cost, struct error *err)
{
    int64_t year, day = cost->finished_at_s / 86400, second = cost->finished_at_s % 86400;
    int month, date;
    date_from_days(day, &year, &month, &date);
    FILE *out = fopen(p->cost_path, "ae");
    if (out == NULL)
        return fail_at(p->cost_path, "cannot write", errno, err);
    fprintf(out, "%s,%.6f,%.6f,%.1f,%d,%04" PRId64 "-%02d-%02dT%02d:%02d:%02dZ\n", id, cost->wall_s, cost->cpu_s,
            cost->peak_memory_mb, cost->threads, year, month, date, (int)(second / 3600), (int)(second / 60 % 60),
            (int)(second % 60));
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return fail_at(p->cost_path, "cannot write", errno, err);
    return 0;
}

struct cost_lines {
    char **v;
    size_t n, capacity;
};

/* Lines of a cost file, in order; a file that is not there has none. The header and what is no run's line is left out. */
static bool lines_read(struct cost_lines *lines, const char *path)
{
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return true;
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    while (ok && getline(&line, &size, in) > 0) {
        if (strspn(line, "0123456789abcdef") != RUN_ID_HEX || line[RUN_ID_HEX] != ',' || strchr(line, '\n') == NULL)
            continue;
        if (lines->n == lines->capacity) {
            size_t capacity = 2 * lines->capacity + 64;
            char **v = realloc(lines->v, capacity * sizeof *v);
            if (v == NULL) {
                ok = false;
                break;
            }
            lines->v = v;
            lines->capacity = capacity;
        }
        ok = (lines->v[lines->n] = strdup(line)) != NULL;
        lines->n += ok;
    }
    ok = ok && feof(in); /* else it could not be read, or memory is out */
    free(line);
    fclose(in);
    return ok;
}

/* OUT.cost.csv: for each run its newest line. */
static int costs_write(const struct parts *p, const char *const *ids, uint32_t n_ids, struct error *err)
{
    struct cost_lines lines = {0};
    const char **newest = calloc((size_t)n_ids + 1, sizeof *newest);
    int status = 0;
    if (newest == NULL || !lines_read(&lines, p->final_cost_path) || !lines_read(&lines, p->cost_path)) {
        status = out_of_memory(err);
        goto done;
    }
    for (size_t i = 0; i < lines.n; i++) {
        uint32_t low = 0, high = n_ids;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (strncmp(ids[middle], lines.v[i], RUN_ID_HEX) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < n_ids && strncmp(ids[low], lines.v[i], RUN_ID_HEX) == 0)
            newest[low] = lines.v[i];
    }
    struct export_file out;
    status = export_file_open(&out, p->final_cost_path, NULL, err);
    if (status != 0)
        goto done;
    fputs(cost_header, out.out);
    for (uint32_t i = 0; i < n_ids; i++)
        if (newest[i] != NULL)
            fputs(newest[i], out.out);
    status = export_file_close(&out, 0, err);
done:
    for (size_t i = 0; i < lines.n; i++)
        free(lines.v[i]);
    free(lines.v);
    free(newest);
    return status;
}

int parts_finish(const struct parts *p, const char *const *ids, uint32_t n_ids, bool is_all, struct error *err)
{
    int status = costs_write(p, ids, n_ids, err);
    for (uint32_t i = 0; status == 0 && i < n_ids; i++) {
        char *path = parts_path(p, ids[i], false);
        if (path != NULL)
            unlink(path);
        free(path);
    }
    if (status == 0)
        unlink(p->cost_path);
    if (status == 0 && is_all)
        remove_if(p, is_part);
    return status;
}
