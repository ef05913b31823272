#include "policies/search_order.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

bool order_is_valid(const uint16_t *order, uint32_t n, uint8_t *seen)
{
    memset(seen, 0, n);
    for (uint32_t i = 0; i < n; i++) {
        if (order[i] >= n || seen[order[i]])
            return false;
        seen[order[i]] = 1;
    }
    return true;
}

static uint32_t draw(gsl_rng *rng, uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(rng, n);
}

void order_shuffle(uint16_t *order, uint32_t n, gsl_rng *rng)
{
    gsl_ran_shuffle(rng, order, n, sizeof *order);
}

void order_swap(uint16_t *order, uint32_t i, uint32_t k)
{
    uint16_t t = order[i];
    order[i] = order[k];
    order[k] = t;
}

void order_move(uint16_t *order, uint32_t from, uint32_t to)
{
    uint16_t t = order[from];
    if (from < to)
        memmove(&order[from], &order[from + 1], (to - from) * sizeof *order);
    else
        memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
    order[to] = t;
}

void order_move_block(uint16_t *order, uint32_t from, uint32_t length, uint32_t to)
{
    /* a rotation of what lies between; three reversals need no memory */
    uint32_t begin = from < to ? from : to, middle = from < to ? from + length : from;
    uint32_t end = from < to ? to + length : from + length;
    const uint32_t parts[3][2] = {{begin, middle}, {middle, end}, {begin, end}};
    for (int k = 0; k < 3; k++)
        for (uint32_t i = parts[k][0], j = parts[k][1]; i + 1 < j; i++, j--)
            order_swap(order, i, j - 1);
}

void order_mutate_swap(uint16_t *order, uint32_t n, gsl_rng *rng)
{
    uint32_t i = draw(rng, n), k = draw(rng, n - 1);
    order_swap(order, i, k + (k >= i));
}

void order_mutate_insert(uint16_t *order, uint32_t n, gsl_rng *rng)
{
    uint32_t i = draw(rng, n), k = draw(rng, n - 1);
    order_move(order, i, k + (k >= i));
}

void order_mutate_block(uint16_t *order, uint32_t n, gsl_rng *rng)
{
    uint32_t most = n / 2 < 8 ? n / 2 : 8, length = 1 + draw(rng, most), room = n - length;
    uint32_t from = draw(rng, room + 1), to = draw(rng, room);
    order_move_block(order, from, length, to + (to >= from));
}

void order_cross(uint16_t *out, const uint16_t *a, const uint16_t *b, uint32_t n, uint32_t begin, uint32_t end,
                 uint8_t *seen)
{
    memset(seen, 0, n);
    for (uint32_t i = begin; i < end; i++) {
        out[i] = a[i];
        seen[a[i]] = 1;
    }
    for (uint32_t from = 0, to = begin == 0 ? end : 0; from < n; from++) {
        if (seen[b[from]])
            continue;
        out[to++] = b[from];
        to = to == begin ? end : to;
    }
}

/* Merge-free and without memory: a heap sort of indexes, (key, index) being different for all. */
#define SORT(order, n, BEFORE)                                                                                         \
    do {                                                                                                               \
        for (uint32_t i_ = 0; i_ < (n); i_++)                                                                          \
            (order)[i_] = (uint16_t)i_;                                                                                \
        for (uint32_t half_ = (n) / 2, end_ = (n); end_ > 1;) {                                                        \
            uint16_t t_;                                                                                               \
            if (half_ > 0) {                                                                                           \
                t_ = (order)[--half_];                                                                                 \
            } else {                                                                                                   \
                t_ = (order)[--end_];                                                                                  \
                (order)[end_] = (order)[0];                                                                            \
            }                                                                                                          \
            uint32_t at_ = half_;                                                                                      \
            for (uint32_t child_; (child_ = 2 * at_ + 1) < end_; at_ = child_) {                                       \
                child_ += child_ + 1 < end_ && BEFORE((order)[child_], (order)[child_ + 1]);                           \
                if (!BEFORE(t_, (order)[child_]))                                                                      \
                    break;                                                                                             \
                (order)[at_] = (order)[child_];                                                                        \
            }                                                                                                          \
            (order)[at_] = t_;                                                                                         \
        }                                                                                                              \
    } while (0)

void order_by_keys(uint16_t *order, const double *keys, uint32_t n)
{
#define BEFORE(a, b)                                                                                                   \
    (keys[a] < keys[b] || (isnan(keys[b]) && !isnan(keys[a])) ||                                                       \
     ((keys[a] == keys[b] || (isnan(keys[a]) && isnan(keys[b]))) && (a) < (b)))
    SORT(order, n, BEFORE);
#undef BEFORE
}

void order_by_integers(uint16_t *order, const int64_t *keys, uint32_t n)
{
#define BEFORE(a, b) (keys[a] < keys[b] || (keys[a] == keys[b] && (a) < (b)))
    SORT(order, n, BEFORE);
#undef BEFORE
}
