/* Remarks: of each kind the first run's is told, with the number of the others, whatever the order in which runs end. */
#include "experiment/remarks.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *lines(const struct remarks *r, const struct experiment *x)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    remarks_write(r, x, f);
    fclose(f);
    return text;
}

static const struct swept swept[3][2] = {
    {{"policy", "fifo"}, {"seed", "1"}}, {{"policy", "las"}, {"seed", "1"}}, {{"policy", "las"}, {"seed", "2"}}};
static struct run_config runs[3] = {
    {.index = 0, .policy.label = "fifo", .swept = swept[0], .n_swept = 2},
    {.index = 1, .policy.label = "las", .swept = swept[1], .n_swept = 2},
    {.index = 2, .policy.label = "las", .swept = swept[2], .n_swept = 2},
};

/* What run `i` remarks. */
static void make(struct remarks *r, uint32_t i)
{
    if (i != 1)
        remarks_add(r, "late", i, "%u jobs were late", 10 + i);
    if (i > 0)
        remarks_add(r, "odd", i, "something is odd in %u", i);
}

Test(remarks, the_order_in_which_runs_end_does_not_matter)
{
    static const uint32_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const struct experiment x = {.runs = runs, .n_runs = 3};
    for (int k = 0; k < 6; k++) {
        struct remarks all = {0};
        remarks_add(&all, "whole", REMARK_OF_ALL, "of the experiment");
        for (int i = 0; i < 3; i++) {
            struct remarks one = {0};
            make(&one, orders[k][i]);
            remarks_take(&all, &one);
            remarks_fini(&one);
        }
        char *text = lines(&all, &x), *joined = remarks_text(&all);
        cr_expect_str_eq(text, "braid: remark: of the experiment\n"
                               "braid: remark: fifo, seed 1: 10 jobs were late (so in 2 of 3 runs)\n"
                               "braid: remark: las, seed 1: something is odd in 1 (so in 2 of 3 runs)\n");
        cr_expect_str_eq(joined, "of the experiment; 10 jobs were late; something is odd in 1");
        free(text);
        free(joined);
        remarks_fini(&all);
    }
}

Test(remarks, one_run_needs_no_title_and_one_kind_comes_once)
{
    const struct experiment x = {.runs = runs, .n_runs = 1};
    struct remarks r = {0};
    remarks_add(&r, "late", 0, "first");
    remarks_add(&r, "late", 0, "second");
    char *text = lines(&r, &x);
    cr_expect_str_eq(text, "braid: remark: first\n");
    free(text);
    remarks_fini(&r);
}
