#include "traces/columns.h"

#include <string.h>

static void add_names(struct digest *d, const struct names *n)
{
    digest_add_u64(d, n->count);
    for (uint32_t id = 0; id < n->count; id++) {
        const char *text = names_text(n, id);
        digest_add_text(d, text, strlen(text));
    }
}

/* `n` values of `size` bytes, lowest byte first. */
static void add_values(struct digest *d, const void *values, size_t size, uint64_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    digest_add_bytes(d, values, size * n);
#else
    const unsigned char *bytes = values;
    for (uint64_t i = 0; i < n; i++)
        for (size_t b = size; b-- > 0;)
            digest_add_bytes(d, bytes + i * size + b, 1);
#endif
}

void workload_digest(struct workload *w)
{
    static const char label[] = "braid workload 1";
    struct digest d;
    digest_init(&d);
    digest_add_text(&d, label, sizeof label - 1);
    digest_add_u64(&d, w->n_jobs);
    digest_add_u64(&d, w->has_origin);
    digest_add_u64(&d, (uint64_t)w->origin_utc_s);
    size_t n_columns;
    const struct column *columns = columns_table(&n_columns);
    for (size_t i = 0; i < n_columns; i++) {
        const void *values = column_get(w, &columns[i]);
        if (values == NULL)
            continue;
        digest_add_text(&d, columns[i].name, strlen(columns[i].name));
        const struct names *names = column_names(w, &columns[i]);
        if (names != NULL)
            add_names(&d, names);
        add_values(&d, values, columns[i].size, w->n_jobs);
    }
    add_values(&d, w->id_at, sizeof *w->id_at, (uint64_t)w->n_jobs + 1);
    digest_add_bytes(&d, w->id_text, w->id_at[w->n_jobs]);
    digest_final(&d, w->digest);
}
