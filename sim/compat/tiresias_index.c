/* tiresias_index.c - the simulator's table of Gittins indices, with the rounding of Python 2.7.
 *
 * For each value v of the sorted sample D (n values), with a = v - 1:
 *
 *      i = #(D <= a)        k = #(D <= a + delta), n - 1 if that is beyond the largest value - 1
 *      p = (k - i) / (n - i), to 5 decimals        e = (sum D[i..k-1] + delta (n - k)) / (n - i), rounded down
 *      index = p 10^6 / e, to 4 decimals
 *
 * D[i..k-1] are whole lengths, not what is missing of them.
 */
#include "compat/tiresias_run.h"

#include "cluster/sheet.h"

#include <math.h>
#include <stdlib.h>

enum { SERVICE_MAX_S = 1000000000 };

/* Half away from zero on the exact value of x >= 0, as Python 2.7 rounds; scale is a power of ten. */
static double round_decimal(double x, double scale)
{
    double product = x * scale, below = floor(product);
    double error = fma(x, scale, -product), over = product - below - 0.5;
    bool is_up = over > 0 || (over == 0 && error >= 0);
    return (is_up ? below + 1 : below) / scale;
}

static int value_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int sample_read(int64_t **out, uint32_t *n, const char *path, struct arena *a, struct error *err)
{
    static const char *const header[] = {"duration"};
    struct sheet s;
    bool has_row = false;
    int code = sheet_open(&s, path, NULL, a, err);
    if (code != BRAID_OK)
        return code;
    code = csv_next(&s.csv, &has_row, err);
    if (code == BRAID_OK && (!has_row || !sheet_header_has(&s, header, 1)))
        code = error_at(err, BRAID_BAD_INPUT, path, 1, 0, "has no column 'duration': it is a sample of service times");
    while (code == BRAID_OK && (code = sheet_next(&s, 1, &has_row)) == BRAID_OK && has_row) {
        int64_t value;
        code = sheet_number(&s, 0, header[0], 1, 1, SERVICE_MAX_S, &value);
        if (code != BRAID_OK)
            break;
        *out = sheet_append(a, *out, *n, sizeof value, &value);
        code = *out != NULL ? BRAID_OK : sheet_out_of_memory(err);
        ++*n;
    }
    if (code == BRAID_OK && *n < 2)
        code = error_at(err, BRAID_BAD_INPUT, path, 0, 0, "holds fewer than two service times");
    sheet_close(&s);
    return code;
}

/* Values <= a. */
static uint32_t count_to(const int64_t *data, uint32_t n, int64_t a)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (data[middle] <= a)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double index_of(const int64_t *data, uint32_t n, int64_t a, int64_t delta)
{
    uint32_t i = count_to(data, n, a), k = a + delta > data[n - 1] - 1 ? n - 1 : count_to(data, n, a + delta);
    int64_t sum = delta * (int64_t)(n - k);
    for (uint32_t m = i; m < k; m++)
        sum += data[m];
    double p = round_decimal((double)((int64_t)k - (int64_t)i) / (double)(n - i), 1e5);
    int64_t e = sum / (int64_t)(n - i);
    return round_decimal(p * 1000000 / (double)e, 1e4);
}

int tiresias_index_load(struct tiresias_index *x, const char *path, int64_t delta_s, struct arena *a, struct error *err)
{
    int64_t *data = NULL;
    int code = sample_read(&data, &x->n, path, a, err);
    if (code != BRAID_OK)
        return code;
    double *index = ARENA_NEW(a, double, x->n);
    if (index == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    qsort(data, x->n, sizeof *data, value_compare);
    for (uint32_t i = 0; i < x->n; i++)
        index[i] = i > 0 && data[i] == data[i - 1] ? index[i - 1] : index_of(data, x->n, data[i] - 1, delta_s);
    x->data = data;
    x->index = index;
    return BRAID_OK;
}

double tiresias_index_at(const struct tiresias_index *x, int64_t attained_s)
{
    uint32_t i = count_to(x->data, x->n, attained_s);
    return i < x->n ? x->index[i] : 0;
}
