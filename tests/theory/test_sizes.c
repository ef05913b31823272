/* Orders that look at service times or at classes. */
#include "tests/theory/formula.h"

#include <criterion/criterion.h>

static void compare_response(const char *model, const struct queue *q, double exact, double tolerance)
{
    struct queue_result r;
    queue_run(&r, q);
    compare(model, "mean response", q->load, exact, &r.samples[MEASURE_RESPONSE], tolerance);
}

Test(theory, srpt_responds_as_schrage_and_miller_say)
{
    struct queue q = {.servers = 1, .policy = "srtf", .batches = 20, .batch_jobs = 20000, .seed = 21};
    q.load = 0.5, q.runs = 1;
    compare_response("M/M/1 srtf", &q, mg1_srpt_response(q.service, q.load), 0.02);
    q.load = 0.7, q.runs = 2;
    compare_response("M/M/1 srtf", &q, mg1_srpt_response(q.service, q.load), 0.02);
    q.load = 0.9, q.runs = 4;
    compare_response("M/M/1 srtf", &q, mg1_srpt_response(q.service, q.load), 0.05);
    q.service = SERVICE_LOGNORMAL, q.seed = 22;
    q.load = 0.5, q.runs = 1;
    compare_response("M/LN/1 srtf", &q, mg1_srpt_response(q.service, q.load), 0.02);
    q.load = 0.7, q.runs = 2;
    compare_response("M/LN/1 srtf", &q, mg1_srpt_response(q.service, q.load), 0.02);
    q.load = 0.9, q.runs = 4;
    compare_response("M/LN/1 srtf", &q, mg1_srpt_response(q.service, q.load), 0.05);
}

Test(theory, sjf_waits_as_phipps_says)
{
    struct queue q = {.service = SERVICE_EXPONENTIAL, .servers = 1, .policy = "sjf", .batches = 20, .batch_jobs = 20000, .seed = 23};
    for (int k = 0; k < 2; k++) {
        struct queue_result r;
        q.load = k == 0 ? 0.5 : 0.7, q.runs = k == 0 ? 3 : 6;
        queue_run(&r, &q);
        compare("M/M/1 sjf", "mean wait", q.load, mg1_sjf_wait(q.service, q.load), &r.samples[MEASURE_WAIT], 0.02);
    }
}

Test(theory, priority_classes_wait_as_cobham_says)
{
    const struct queue q = {.servers = 1, .policy = "priority", .load = 0.7, .urgent = 0.4, .runs = 8, .batches = 20, .batch_jobs = 20000, .seed = 24};
    struct queue_result r;
    queue_run(&r, &q);
    compare("M/M/1 priority", "mean wait, 40 % urgent", q.load, mg1_urgent_wait(q.service, q.load, q.urgent),
            &r.samples[MEASURE_WAIT_URGENT], 0.02);
    compare("M/M/1 priority", "mean wait, 60 % patient", q.load, mg1_patient_wait(q.service, q.load, q.urgent),
            &r.samples[MEASURE_WAIT_PATIENT], 0.03);
}
