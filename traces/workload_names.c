#include "traces/columns.h"

#include <stdlib.h>
#include <string.h>

/* The names that column `c` uses, in natural order, in place of those that `w` has. */
static bool settle(struct workload *w, const struct column *c)
{
    struct names *from = column_names(w, c), to;
    uint32_t *ids = column_get(w, c);
    if (from == NULL || ids == NULL)
        return true;
    names_init(&to);
    uint32_t *map = calloc((size_t)from->count + 1, sizeof *map);
    uint32_t *sorted = malloc(((size_t)from->count + 1) * sizeof *sorted);
    bool ok = map != NULL && sorted != NULL;
    for (uint32_t j = 0; j < w->n_jobs && ok; j++)
        if (ids[j] != NAMES_NONE)
            map[ids[j]] = 1;
    for (uint32_t id = 0; id < from->count && ok; id++) {
        const char *text = names_text(from, id);
        bool is_used = map[id] != 0;
        map[id] = is_used ? names_add(&to, text, strlen(text)) : NAMES_NONE;
        ok = !is_used || map[id] != NAMES_NONE;
    }
    ok = ok && names_sort(&to, sorted);
    for (uint32_t j = 0; j < w->n_jobs && ok; j++)
        if (ids[j] != NAMES_NONE)
            ids[j] = sorted[map[ids[j]]];
    names_fini(ok ? from : &to);
    if (ok)
        *from = to;
    free(map);
    free(sorted);
    return ok;
}

bool workload_settle_names(struct workload *w)
{
    size_t n_columns;
    const struct column *columns = columns_table(&n_columns);
    bool ok = true;
    for (size_t i = 0; i < n_columns && ok; i++)
        ok = settle(w, &columns[i]);
    return ok;
}
