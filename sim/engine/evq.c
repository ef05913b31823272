#include "engine/evq.h"

#include "base/check.h"

enum { LINE = 64 };

bool evq_init(struct evq *q, uint32_t n_handles, struct arena *a)
{
    /* heap[1], the first of the root's children, begins a cache line, and so does every later family of four */
    size_t bytes = ((size_t)n_handles + 1) * sizeof(evq_key) + 2 * LINE;
    char *raw = arena_alloc(a, bytes, 1);
    q->at = ARENA_NEW(a, uint32_t, n_handles);
    q->n = 0;
    if (raw == NULL || q->at == NULL)
        return false;
    uintptr_t line = ((uintptr_t)raw + LINE - 1) & ~(uintptr_t)(LINE - 1);
    q->key = (evq_key *)(line + LINE - sizeof(evq_key));
    return true;
}

static inline uint32_t handle_of(evq_key k)
{
    return (uint32_t)k;
}

/* Place `k` at the hole `i` or above it. */
static inline void sift_up(struct evq *q, uint32_t i, evq_key k)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / 4;
        if (q->key[parent] < k)
            break;
        q->key[i] = q->key[parent];
        q->at[handle_of(q->key[i])] = i + 1;
        i = parent;
    }
    q->key[i] = k;
    q->at[handle_of(k)] = i + 1;
}

/* Place `k` at the hole `i` or below it. */
static inline void sift_down(struct evq *q, uint32_t i, evq_key k)
{
    evq_key *key = q->key;
    for (;;) {
        uint32_t c = 4 * i + 1;
        if (c + 3 < q->n) { /* a full family: the least of four by conditional moves */
            uint32_t a = c + (key[c + 1] < key[c]);
            uint32_t b = c + 2 + (key[c + 3] < key[c + 2]);
            c = key[b] < key[a] ? b : a;
            __builtin_prefetch(&key[4 * c + 1]);
        } else if (c < q->n) {
            for (uint32_t d = c + 1; d < q->n; d++)
                c = key[d] < key[c] ? d : c;
        } else {
            break;
        }
        if (k < key[c])
            break;
        key[i] = key[c];
        q->at[handle_of(key[i])] = i + 1;
        i = c;
    }
    key[i] = k;
    q->at[handle_of(k)] = i + 1;
}

void evq_set(struct evq *q, uint32_t handle, int64_t time_ns, uint32_t class)
{
    insist(time_ns >= 0 && class < 256, "time %lld class %u", (long long)time_ns, class);
    evq_key k = (evq_key)(uint64_t)time_ns << 64 | (uint64_t)class << 56 | handle;
    uint32_t at = q->at[handle];
    if (at == 0) {
        sift_up(q, q->n++, k);
    } else if (k < q->key[at - 1]) {
        sift_up(q, at - 1, k);
    } else {
        sift_down(q, at - 1, k);
    }
}

static void remove_at(struct evq *q, uint32_t i)
{
    q->at[handle_of(q->key[i])] = 0;
    evq_key last = q->key[--q->n];
    if (i == q->n)
        return;
    if (i > 0 && last < q->key[(i - 1) / 4])
        sift_up(q, i, last);
    else
        sift_down(q, i, last);
}

void evq_cancel(struct evq *q, uint32_t handle)
{
    if (q->at[handle] != 0)
        remove_at(q, q->at[handle] - 1);
}

struct event evq_pop(struct evq *q)
{
    evq_key k = q->key[0];
    q->at[handle_of(k)] = 0;
    evq_key last = q->key[--q->n];
    if (q->n > 0)
        sift_down(q, 0, last);
    return (struct event){(int64_t)(uint64_t)(k >> 64), (uint32_t)((uint64_t)k >> 56), handle_of(k)};
}

bool evq_check(const struct evq *q, uint32_t n_handles)
{
    uint32_t pending = 0;
    for (uint32_t h = 0; h < n_handles; h++)
        pending += q->at[h] != 0;
    for (uint32_t i = 0; i < q->n; i++)
        if ((i > 0 && q->key[i] < q->key[(i - 1) / 4]) || q->at[handle_of(q->key[i])] != i + 1)
            return false;
    return pending == q->n;
}
