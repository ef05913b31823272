/* Jobs that are named by id, found through an index, against a look at every job: a million names in random workloads. */
#include "tests/dice.h"
#include "traces/depends.h"
#include "traces/workload.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { JOBS = 250, NAMED = 4, ROUNDS = 1000000 / (JOBS * NAMED), IDS = 90 };

static uint64_t dice = 0x13579bdf2468;

static uint32_t roll(uint32_t sides)
{
    return dice_roll(&dice, sides);
}

/* The nearest earlier one of that id; else itself only when nobody else has it, else the first later one. */
static uint32_t twin_meant(const uint32_t *id, uint32_t n, uint32_t job, uint32_t wanted)
{
    for (uint32_t j = job; j-- > 0;)
        if (id[j] == wanted)
            return j;
    for (uint32_t j = job + 1; j < n; j++)
        if (id[j] == wanted)
            return j;
    return id[job] == wanted ? job : UINT32_MAX;
}

static void compare(uint32_t round)
{
    static char ids[JOBS * 8];
    static uint64_t id_at[JOBS + 1];
    static uint32_t texts[JOBS], id[JOBS], named[JOBS][NAMED];
    static char text[NAMED * 8];
    uint32_t n = 1 + roll(JOBS), n_ids = 1 + roll(IDS);
    struct workload w = {.n_jobs = n, .id_text = ids, .depends = texts};
    struct depends d;
    size_t at = 0;
    names_init(&w.depends_texts);
    w.id_at = id_at;
    for (uint32_t j = 0; j < n; j++) {
        size_t used = 0;
        id[j] = roll(n_ids);
        id_at[j] = at;
        at += (size_t)snprintf(ids + at, sizeof ids - at, "j%u", id[j]);
        for (uint32_t k = 0; k < NAMED; k++) { /* some name nobody */
            named[j][k] = roll(n_ids + n_ids / 4 + 1);
            used += (size_t)snprintf(text + used, sizeof text - used, "%sj%u", k > 0 ? ";" : "", named[j][k]);
        }
        texts[j] = names_add(&w.depends_texts, text, used);
        cr_assert_neq(texts[j], NAMES_NONE);
    }
    id_at[n] = at;
    cr_assert(depends_build(&d, &w));
    for (uint32_t j = 0; j < n; j++) {
        uint32_t i = d.first[j];
        for (uint32_t k = 0; k < NAMED; k++) {
            uint32_t want = twin_meant(id, n, j, named[j][k]);
            if (want == UINT32_MAX)
                continue;
            cr_assert(i < d.first[j + 1] && d.on[i] == want, "round %u: job %u of %u means %u, in the twin %u", round,
                      j, n, d.on[i], want);
            i++;
        }
        cr_assert_eq(i, d.first[j + 1], "round %u: job %u", round, j);
    }
    depends_fini(&d);
    names_fini(&w.depends_texts);
}

Test(depends, a_million_ids_are_found_as_by_a_look_at_every_job)
{
    for (uint32_t round = 0; round < 2 * ROUNDS; round++) /* half as many jobs each on average */
        compare(round);
}
