/* The Gittins policy with and without queues in front of it. */
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <string.h>

/* Two jobs of 30 s on one GPU: nothing is told by the index before 25 s, so the first would run to its end. */
static struct test_case *two_jobs(const char *thresholds)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, "gittins");
    case_param(c, "service", "time");
    case_param(c, "delta", "5");
    case_param(c, "thresholds", thresholds);
    case_job(c, 0, 30, 1);
    case_job(c, 12, 30, 1);
    return c;
}

Test(gittins_queues, equal_indices_displace_nobody)
{
    struct test_case *c = two_jobs("[]");
    case_run(c);
    cr_expect_eq(c->r.jobs[0].end_ns, 30 * S);
    cr_expect_eq(c->r.jobs[1].start_ns, 30 * S);
    case_destroy(c);
}

Test(gittins_queues, a_higher_queue_goes_before_any_index)
{
    struct test_case *c = two_jobs("[10]");
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, 12 * S); /* the other left the first queue at 10 s */
    cr_expect_eq(c->r.jobs[0].preemptions, 1u);
    case_destroy(c);
}

Test(gittins_queues, inside_a_queue_the_index_decides)
{
    struct test_case *c = case_create(1, 1);
    case_policy(c, "gittins");
    case_param(c, "service", "time");
    case_param(c, "delta", "5");
    case_param(c, "thresholds", "[2]");
    case_job(c, 0, 8,
             1); /* in the second queue from 2 s on; its index is above 0 from 5 s of service on, and it is done then */
    case_job(c, 5, 30, 1); /* takes the GPU at 5 as the first queue; behind at 7, when the other has 5 s of service */
    case_run(c);
    cr_expect_eq(c->r.jobs[1].start_ns, 5 * S);
    cr_expect_eq(c->r.jobs[0].end_ns, 10 * S);
    case_destroy(c);
}

Test(gittins_queues, thresholds_must_ascend_and_be_few)
{
    struct test_case *c = two_jobs("[10, 10]");
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "must ascend"));
    case_param(c, "thresholds", "[1, 2, 3, 4, 5, 6, 7, 8]");
    cr_expect_eq(case_try(c), BRAID_BAD_INPUT);
    cr_expect_not_null(strstr(c->err.message, "at most 7"));
    case_destroy(c);
}
