/* Who holds what exclusively: allocations, their places and spans.
 *
 *     handle ─▶ struct alloc ─▶ places   (node, GPUs)             one a node, in the order the placement gave
 *                            └▶ spans    (node, first, count)     runs of GPU numbers, place by place
 *
 *     IDLE ──alloc──▶ LIVE ──free──▶ FREED ──forget──▶ IDLE       FREED: the lists stay readable, the GPUs are free
 *
 * The spans are found first and nothing is written before all memory is there, so an allocation happens whole or not at all.
 */
#include "base/check.h"
#include "cluster/cluster_state.h"

#include <string.h>

/* ---- memory: handles and blocks ---------------------------------------------------------------- */

static bool chunk_add(struct cluster *c)
{
    if (c->n_chunks == c->chunks_room) {
        uint32_t room = c->chunks_room == 0 ? 16 : c->chunks_room * 2;
        struct alloc **chunks = ARENA_NEW(c->arena, struct alloc *, room);
        if (chunks == NULL)
            return false;
        if (c->n_chunks > 0)
            memcpy(chunks, c->chunks, c->n_chunks * sizeof *chunks);
        c->chunks = chunks;
        c->chunks_room = room;
    }
    struct alloc *chunk = ARENA_NEW(c->arena, struct alloc, ALLOC_CHUNK);
    if (chunk == NULL)
        return false;
    c->chunks[c->n_chunks++] = chunk;
    return true;
}

/* The handle that alloc_take would give, without taking it. */
static uint32_t alloc_peek(struct cluster *c)
{
    if (c->first_idle != ALLOC_NONE)
        return c->first_idle;
    if (c->n_handles == c->n_chunks * ALLOC_CHUNK && !chunk_add(c))
        return ALLOC_NONE;
    return c->n_handles;
}

static void alloc_take(struct cluster *c, uint32_t handle)
{
    if (handle == c->first_idle)
        c->first_idle = alloc_at(c, handle)->next_idle;
    else
        c->n_handles++;
}

/* A block of at least `n` entries of `size` bytes: 2^class of them, from the list of idle ones or the arena. */
static void *block_take(struct cluster *c, void **idle, uint32_t n, size_t size, uint8_t *class)
{
    *class = (uint8_t)(32 - __builtin_clz(n - 1)); /* n >= 2 */
    void *block = idle[*class];
    if (block != NULL)
        memcpy(&idle[*class], block, sizeof block); /* an idle block begins with the address of the next */
    else
        block = arena_alloc(c->arena, (size_t)1 << *class, size);
    return block;
}

static void block_give(void **idle, void *block, uint8_t class)
{
    memcpy(block, &idle[class], sizeof block);
    idle[class] = block;
}

/* ---- GPUs of one node ------------------------------------------------------------------------- */

/* The lowest `gpus` free GPUs of a node as spans behind out[0..n_out); returns the new length. */
static uint32_t spans_find(const struct cluster *c, uint32_t node, uint32_t gpus, struct span *out, uint32_t n_out)
{
    const struct node *n = &c->nodes[node];
    const uint64_t *words = c->words + n->word_at;
    uint32_t begin = n_out;
    for (uint32_t w = 0; gpus > 0; w++) {
        require(w * 64 < n->gpus, "node %u has too few free GPUs", node);
        uint64_t word = words[w];
        while (word != 0 && gpus > 0) {
            uint32_t first = (uint32_t)__builtin_ctzll(word);
            uint64_t behind = ~(word >> first);
            uint32_t run = behind == 0 ? 64 : (uint32_t)__builtin_ctzll(behind);
            word = first + run >= 64 ? 0 : word & ~UINT64_C(0) << (first + run);
            uint32_t take = run < gpus ? run : gpus;
            gpus -= take;
            first += w * 64;
            if (n_out > begin && out[n_out - 1].gpu_first + out[n_out - 1].gpu_count == first)
                out[n_out - 1].gpu_count += take; /* a run across two words */
            else
                out[n_out++] = (struct span){node, first, take};
        }
    }
    return n_out;
}

/* Bits [first, first + count) that fall into word w. */
static uint64_t span_mask(const struct span *s, uint32_t w)
{
    uint32_t low = s->gpu_first > w * 64 ? s->gpu_first - w * 64 : 0;
    uint32_t end = s->gpu_first + s->gpu_count - w * 64; /* > 0 */
    uint64_t below_end = end >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << end) - 1;
    return below_end & ~UINT64_C(0) << low;
}

static bool span_is_free(const struct cluster *c, const struct span *s)
{
    const uint64_t *words = c->words + c->nodes[s->node].word_at;
    for (uint32_t w = s->gpu_first / 64; w * 64 < s->gpu_first + s->gpu_count; w++) {
        uint64_t mask = span_mask(s, w);
        if ((words[w] & mask) != mask)
            return false;
    }
    return true;
}

static void span_take(struct cluster *c, const struct span *s, uint32_t handle)
{
    const struct node *n = &c->nodes[s->node];
    uint64_t *words = c->words + n->word_at;
    for (uint32_t w = s->gpu_first / 64; w * 64 < s->gpu_first + s->gpu_count; w++) {
        uint64_t mask = span_mask(s, w);
        require((words[w] & mask) == mask, "node %u: a GPU of %u..%u is taken already", s->node, s->gpu_first,
                s->gpu_first + s->gpu_count - 1);
        words[w] &= ~mask;
    }
    uint32_t *owner = c->owner + n->gpu_at + s->gpu_first;
    for (uint32_t g = 0; g < s->gpu_count; g++)
        owner[g] = handle;
}

static void span_give(struct cluster *c, const struct span *s)
{
    const struct node *n = &c->nodes[s->node];
    uint64_t *words = c->words + n->word_at;
    for (uint32_t w = s->gpu_first / 64; w * 64 < s->gpu_first + s->gpu_count; w++)
        words[w] |= span_mask(s, w);
    uint32_t *owner = c->owner + n->gpu_at + s->gpu_first;
    for (uint32_t g = 0; g < s->gpu_count; g++)
        owner[g] = OWNER_FREE;
}

/* ---- allocate and free ------------------------------------------------------------------------- */

/* Take (or give back) CPU and memory of one place; `before`: the job's GPUs on earlier places. */
static void place_charge(struct cluster *c, const struct alloc *a, const struct place *p, uint32_t before, bool take)
{
    struct node *n = &c->nodes[p->node];
    const struct pool *pool = &c->pools[n->pool];
    if (a->cpu_milli > 0 && pool->cpu_milli != CPU_UNLIMITED) {
        uint32_t part = (uint32_t)sched_part(a->cpu_milli, before, p->gpus, a->gpus);
        require(!take || part <= n->cpu_free_milli, "node %u: %u milli-CPU asked, %u free", p->node, part,
                n->cpu_free_milli);
        n->cpu_free_milli = take ? n->cpu_free_milli - part : n->cpu_free_milli + part;
    }
    if (a->mem_kib > 0 && pool->mem_kib != MEM_UNLIMITED) {
        uint64_t part = sched_part(a->mem_kib, before, p->gpus, a->gpus);
        require(!take || part <= n->mem_free_kib, "node %u: memory asked exceeds what is free", p->node);
        n->mem_free_kib = take ? n->mem_free_kib - part : n->mem_free_kib + part;
    }
}

static void place_take(struct cluster *c, const struct alloc *a, const struct place *p, uint32_t before)
{
    struct node *n = &c->nodes[p->node];
    uint32_t visible = node_visible(n), held = n->gpus - n->free_gpus;
    require(p->gpus <= visible, "node %u: %u GPUs asked, %u free", p->node, p->gpus, visible);
    cluster_index_move(c, n, visible, visible - p->gpus);
    cluster_load_move(c, held, held + p->gpus);
    n->free_gpus -= p->gpus;
    if (a->cpu_milli > 0 || a->mem_kib > 0)
        place_charge(c, a, p, before, true);
}

/* Fill the record `handle` from places and found spans and write it into the tables. */
static uint32_t alloc_commit(struct cluster *c, uint32_t handle, uint32_t vc, uint32_t job, const struct demand *d,
                             const struct place *places, uint32_t n_places, const struct span *spans, uint32_t n_spans)
{
    struct alloc *a = alloc_at(c, handle);
    struct place *own_places = &a->one_place;
    struct span *own_spans = &a->one_span;
    uint8_t place_class = 0, span_class = 0;
    if (n_places > 1)
        own_places = block_take(c, c->idle_places, n_places, sizeof *places, &place_class);
    if (own_places == NULL)
        return ALLOC_NONE;
    if (n_spans > 1)
        own_spans = block_take(c, c->idle_spans, n_spans, sizeof *spans, &span_class);
    if (own_spans == NULL) {
        if (place_class > 0)
            block_give(c->idle_places, own_places, place_class);
        return ALLOC_NONE;
    }
    alloc_take(c, handle);
    a->places = own_places;
    a->spans = own_spans;
    a->n_places = n_places;
    a->n_spans = n_spans;
    a->place_class = place_class;
    a->span_class = span_class;
    a->job = job;
    a->vc = vc;
    a->gpus = d->gpus;
    a->cpu_milli = d->cpu_milli;
    a->mem_kib = d->mem_kib;
    a->state = ALLOC_LIVE;
    uint32_t before = 0;
    for (uint32_t i = 0; i < n_places; i++) {
        own_places[i] = places[i];
        place_take(c, a, &places[i], before);
        before += places[i].gpus;
    }
    require(before == d->gpus, "places of %u GPUs for a job of %u", before, d->gpus);
    for (uint32_t i = 0; i < n_spans; i++) {
        own_spans[i] = spans[i];
        span_take(c, &spans[i], handle);
    }
    c->vcs[vc].used_gpus += d->gpus;
    return handle;
}

uint32_t cluster_alloc(struct cluster *c, uint32_t vc, uint32_t job, const struct demand *d, const struct place *places,
                       uint32_t n)
{
    require(n > 0, "an allocation without places for job %u", job);
    uint32_t handle = alloc_peek(c);
    if (handle == ALLOC_NONE)
        return ALLOC_NONE;
    uint32_t n_spans = 0;
    for (uint32_t i = 0; i < n; i++)
        n_spans = spans_find(c, places[i].node, places[i].gpus, c->scratch, n_spans);
    return alloc_commit(c, handle, vc, job, d, places, n, c->scratch, n_spans);
}

uint32_t cluster_alloc_again(struct cluster *c, uint32_t vc, uint32_t job, const struct demand *d, uint32_t old)
{
    const struct alloc *a = alloc_at(c, old);
    require(a->state == ALLOC_FREED, "allocation %u was not freed in this round", old);
    uint32_t before = 0;
    for (uint32_t i = 0; i < a->n_places; i++) {
        const struct node *n = &c->nodes[a->places[i].node];
        uint32_t gpus = a->places[i].gpus;
        if (gpus > node_visible(n) || sched_part(d->cpu_milli, before, gpus, d->gpus) > n->cpu_free_milli ||
            sched_part(d->mem_kib, before, gpus, d->gpus) > n->mem_free_kib)
            return ALLOC_NONE;
        before += gpus;
    }
    if (before != d->gpus)
        return ALLOC_NONE;
    for (uint32_t i = 0; i < a->n_spans; i++)
        if (!span_is_free(c, &a->spans[i]))
            return ALLOC_NONE;
    uint32_t handle = alloc_peek(c);
    if (handle == ALLOC_NONE)
        return ALLOC_NONE;
    return alloc_commit(c, handle, vc, job, d, a->places, a->n_places, a->spans, a->n_spans);
}

void cluster_free(struct cluster *c, uint32_t vc, uint32_t job, const struct demand *d, uint32_t handle)
{
    struct alloc *a = alloc_at(c, handle);
    require(a->state == ALLOC_LIVE && a->job == job && a->vc == vc && a->gpus == d->gpus,
            "job %u gives back allocation %u of job %u", job, handle, a->job);
    for (uint32_t i = 0; i < a->n_spans; i++)
        span_give(c, &a->spans[i]);
    uint32_t before = 0;
    bool is_charged = a->cpu_milli > 0 || a->mem_kib > 0;
    for (uint32_t i = 0; i < a->n_places; i++) {
        const struct place *p = &a->places[i];
        struct node *n = &c->nodes[p->node];
        uint32_t visible = node_visible(n), held = n->gpus - n->free_gpus;
        cluster_index_move(c, n, visible, visible + p->gpus);
        cluster_load_move(c, held, held - p->gpus);
        n->free_gpus += p->gpus;
        if (is_charged)
            place_charge(c, a, p, before, false);
        before += p->gpus;
    }
    c->vcs[vc].used_gpus -= a->gpus;
    a->state = ALLOC_FREED;
}

void cluster_forget(struct cluster *c, uint32_t handle)
{
    struct alloc *a = alloc_at(c, handle);
    require(a->state == ALLOC_FREED, "allocation %u forgotten before it was freed", handle);
    if (a->place_class > 0)
        block_give(c->idle_places, a->places, a->place_class);
    if (a->span_class > 0)
        block_give(c->idle_spans, a->spans, a->span_class);
    a->state = ALLOC_IDLE;
    a->next_idle = c->first_idle;
    c->first_idle = handle;
}

/* ---- reading ----------------------------------------------------------------------------------- */

uint32_t cluster_alloc_places(const struct cluster *c, uint32_t handle, const struct place **out)
{
    const struct alloc *a = alloc_at(c, handle);
    *out = a->places;
    return a->n_places;
}

uint32_t cluster_alloc_spans(const struct cluster *c, uint32_t handle, const struct span **out)
{
    const struct alloc *a = alloc_at(c, handle);
    *out = a->spans;
    return a->n_spans;
}

/* Every span of `x` lies within spans of `y`? Spans of one allocation do not overlap, so with equal counts of GPUs this is
 * equality of sets. Lists are mostly in the same order; a span that is not found at its own place is searched. */
static bool spans_within(const struct alloc *x, const struct alloc *y)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < x->n_spans; i++) {
        struct span s = x->spans[i];
        while (s.gpu_count > 0) {
            uint32_t tries = 0;
            const struct span *t = NULL;
            for (; tries < y->n_spans; tries++, at = at + 1 < y->n_spans ? at + 1 : 0) {
                t = &y->spans[at];
                if (t->node == s.node && t->gpu_first <= s.gpu_first && s.gpu_first < t->gpu_first + t->gpu_count)
                    break;
            }
            if (tries == y->n_spans)
                return false;
            uint32_t common = t->gpu_first + t->gpu_count - s.gpu_first;
            if (common > s.gpu_count)
                common = s.gpu_count;
            s.gpu_first += common;
            s.gpu_count -= common;
        }
    }
    return true;
}

bool cluster_alloc_equal(const struct cluster *c, uint32_t a, uint32_t b)
{
    const struct alloc *x = alloc_at(c, a), *y = alloc_at(c, b);
    return x->gpus == y->gpus && x->n_places == y->n_places && spans_within(x, y);
}

uint64_t cluster_alloc_gpu_memory(const struct cluster *c, uint32_t handle)
{
    const struct alloc *a = alloc_at(c, handle);
    uint64_t least = 0;
    for (uint32_t i = 0; i < a->n_places; i++) {
        uint64_t memory = c->pools[c->nodes[a->places[i].node].pool].gpu_memory_kib;
        if (memory > 0 && (least == 0 || memory < least))
            least = memory;
    }
    return least;
}
