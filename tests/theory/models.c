#include "tests/theory/models.h"

#include "tests/theory/formula.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- closed forms, as functions of the model ------------------------------------------------------------ */

static double exact_wait(const struct queue *q)
{
    return q->servers == 1 ? mg1_wait(q->service, q->load) : mmc_wait(q->servers, q->load);
}

static double exact_waited(const struct queue *q)
{
    return erlang_c(q->servers, q->load);
}

static double exact_srpt(const struct queue *q)
{
    return mg1_srpt_response(q->service, q->load);
}

static double exact_sjf(const struct queue *q)
{
    return mg1_sjf_wait(q->service, q->load);
}

static double exact_urgent(const struct queue *q)
{
    return mg1_urgent_wait(q->service, q->load, q->urgent);
}

static double exact_patient(const struct queue *q)
{
    return mg1_patient_wait(q->service, q->load, q->urgent);
}

static double exact_sharing(const struct queue *q)
{
    return mg1_sharing_response(q->load);
}

static double exact_number(const struct queue *q)
{
    return mginf_number(q->load * q->servers);
}

static double exact_pairs(const struct queue *q)
{
    return mginf_pairs(q->load * q->servers);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

#define M SERVICE_EXPONENTIAL
#define D SERVICE_DETERMINISTIC
#define LN SERVICE_LOGNORMAL

#define FIFO(NAME, SERVICE, SERVERS, LOAD, RUNS, BATCH, SEED, TOLERANCE)                                               \
    {                                                                                                                  \
        .name = NAME,                                                                                                  \
        .q = {.policy = "fifo",                                                                                        \
              .service = SERVICE,                                                                                      \
              .servers = SERVERS,                                                                                      \
              .load = LOAD,                                                                                            \
              .runs = RUNS,                                                                                            \
              .batch_jobs = BATCH,                                                                                     \
              .seed = SEED},                                                                                           \
        .parts = {{MEASURE_WAIT, exact_wait, TOLERANCE},                                                               \
                  {MEASURE_WAITED, SERVICE == M ? exact_waited : NULL, TOLERANCE}},                                    \
    }
#define SIZES(NAME, POLICY, SERVICE, LOAD, RUNS, BATCH, SEED, MEASURE, EXACT, TOLERANCE)                               \
    {                                                                                                                  \
        .name = NAME,                                                                                                  \
        .q = {.policy = POLICY,                                                                                        \
              .service = SERVICE,                                                                                      \
              .servers = 1,                                                                                            \
              .load = LOAD,                                                                                            \
              .runs = RUNS,                                                                                            \
              .batch_jobs = BATCH,                                                                                     \
              .seed = SEED},                                                                                           \
        .parts = {{MEASURE, EXACT, TOLERANCE}},                                                                        \
    }
/* Blind policies that interrupt: with exponential service all have the mean response of processor sharing, whatever the quantum. */
#define BLIND(NAME, POLICY, LOAD, PARAM, VALUE, SEED)                                                                  \
    {                                                                                                                  \
        .name = NAME,                                                                                                  \
        .q = {.policy = POLICY,                                                                                        \
              .service = M,                                                                                            \
              .servers = 1,                                                                                            \
              .load = LOAD,                                                                                            \
              .param = PARAM,                                                                                          \
              .value = VALUE,                                                                                          \
              .runs = 1,                                                                                               \
              .batch_jobs = 10000,                                                                                     \
              .seed = SEED},                                                                                           \
        .has_control = true, .parts = {{MEASURE_RESPONSE, exact_sharing, 0.02}},                                       \
    }
#define SHARING(NAME, SERVICE, LOAD, QUANTUM, HALF, RUNS, CONTROL, SEED)                                               \
    {                                                                                                                  \
        .name = NAME,                                                                                                  \
        .q = {.policy = "round_robin",                                                                                 \
              .service = SERVICE,                                                                                      \
              .servers = 1,                                                                                            \
              .load = LOAD,                                                                                            \
              .param = "quantum",                                                                                      \
              .value = QUANTUM,                                                                                        \
              .runs = RUNS,                                                                                            \
              .batch_jobs = 10000,                                                                                     \
              .seed = SEED},                                                                                           \
        .half_value = HALF, .has_control = CONTROL, .parts = {{MEASURE_RESPONSE, exact_sharing, 0.02}},                \
    }
#define UNLIMITED(NAME, SERVICE, OFFERED, SEED)                                                                        \
    {                                                                                                                  \
        .name = NAME,                                                                                                  \
        .q = {.policy = "fifo",                                                                                        \
              .service = SERVICE,                                                                                      \
              .servers = 256,                                                                                          \
              .load = OFFERED / 256.0,                                                                                 \
              .runs = 2,                                                                                               \
              .batch_jobs = 10000,                                                                                     \
              .seed = SEED},                                                                                           \
        .parts = {{MEASURE_NUMBER, exact_number, 0.01}, {MEASURE_PAIRS, exact_pairs, 0.02}},                           \
    }

const struct model models[] = {
    FIFO("M/M/1 fifo", M, 1, 0.5, 3, 5000, 11, 0.02),
    FIFO("M/M/1 fifo", M, 1, 0.7, 7, 10000, 12, 0.02),
    FIFO("M/M/1 fifo", M, 1, 0.9, 7, 20000, 13, 0.06),
    FIFO("M/M/2 fifo", M, 2, 0.5, 5, 5000, 14, 0.02),
    FIFO("M/M/4 fifo", M, 4, 0.7, 14, 10000, 15, 0.02),
    FIFO("M/M/4 fifo", M, 4, 0.9, 7, 20000, 16, 0.06),
    FIFO("M/M/16 fifo", M, 16, 0.9, 7, 20000, 17, 0.07),
    FIFO("M/D/1 fifo", D, 1, 0.5, 2, 5000, 18, 0.02),
    FIFO("M/D/1 fifo", D, 1, 0.7, 5, 10000, 19, 0.02),
    FIFO("M/D/1 fifo", D, 1, 0.9, 4, 20000, 20, 0.06),
    FIFO("M/LN/1 fifo", LN, 1, 0.5, 8, 10000, 21, 0.02),
    FIFO("M/LN/1 fifo", LN, 1, 0.7, 14, 20000, 22, 0.02),
    FIFO("M/LN/1 fifo", LN, 1, 0.9, 7, 20000, 23, 0.08),
    SIZES("M/M/1 random", "random", M, 0.7, 7, 10000, 31, MEASURE_WAIT, exact_wait, 0.02),
    SIZES("M/M/1 sjf", "sjf", M, 0.5, 3, 5000, 32, MEASURE_WAIT, exact_sjf, 0.02),
    SIZES("M/M/1 sjf", "sjf", M, 0.7, 6, 10000, 33, MEASURE_WAIT, exact_sjf, 0.02),
    SIZES("M/M/1 srtf", "srtf", M, 0.5, 1, 5000, 34, MEASURE_RESPONSE, exact_srpt, 0.02),
    SIZES("M/M/1 srtf", "srtf", M, 0.7, 2, 10000, 35, MEASURE_RESPONSE, exact_srpt, 0.02),
    SIZES("M/M/1 srtf", "srtf", M, 0.9, 4, 20000, 36, MEASURE_RESPONSE, exact_srpt, 0.05),
    SIZES("M/LN/1 srtf", "srtf", LN, 0.5, 1, 5000, 37, MEASURE_RESPONSE, exact_srpt, 0.02),
    SIZES("M/LN/1 srtf", "srtf", LN, 0.7, 2, 10000, 38, MEASURE_RESPONSE, exact_srpt, 0.02),
    SIZES("M/LN/1 srtf", "srtf", LN, 0.9, 4, 20000, 39, MEASURE_RESPONSE, exact_srpt, 0.05),
    {.name = "M/M/1 priority",
     .q = {.policy = "priority", .servers = 1, .load = 0.7, .urgent = 0.4, .runs = 9, .batch_jobs = 20000, .seed = 41},
     .parts = {{MEASURE_WAIT_URGENT, exact_urgent, 0.02}, {MEASURE_WAIT_PATIENT, exact_patient, 0.02}}},
    BLIND("M/M/1 las", "las", 0.7, "quantum", "20 s", 51),
    BLIND("M/M/1 tiresias", "tiresias", 0.7, "thresholds", "[50, 150]", 52),
    BLIND("M/M/1 round_robin", "round_robin", 0.5, "quantum", "50 s", 53),
    BLIND("M/M/1 round_robin", "round_robin", 0.7, "quantum", "50 s", 54),
    BLIND("M/M/1 round_robin", "round_robin", 0.9, "quantum", "50 s", 55),
    SHARING("M/D/1 round_robin, quantum to 0", D, 0.5, "20 s", "10 s", 1, false, 61),
    SHARING("M/D/1 round_robin, quantum to 0", D, 0.7, "20 s", "10 s", 2, false, 62),
    SHARING("M/LN/1 round_robin, quantum to 0", LN, 0.5, "40 s", "20 s", 1, true, 63),
    SHARING("M/LN/1 round_robin, quantum to 0", LN, 0.7, "40 s", "20 s", 3, true, 64),
    UNLIMITED("M/M/inf", M, 10, 71),
    UNLIMITED("M/M/inf", M, 60, 72),
    UNLIMITED("M/D/inf", D, 10, 73),
    UNLIMITED("M/D/inf", D, 60, 74),
    UNLIMITED("M/LN/inf", LN, 10, 75),
    UNLIMITED("M/LN/inf", LN, 60, 76),
};
const uint32_t n_models = sizeof models / sizeof *models;

static const char *const quantities[N_MEASURES] = {
    [MEASURE_RESPONSE] = "mean response",
    [MEASURE_WAIT] = "mean wait",
    [MEASURE_WAITED] = "probability of waiting",
    [MEASURE_WAIT_URGENT] = "mean wait of the urgent 40 %",
    [MEASURE_WAIT_PATIENT] = "mean wait of the others",
    [MEASURE_NUMBER] = "mean number in system N",
    [MEASURE_PAIRS] = "mean of N (N - 1)",
};

/* ---- running it ---------------------------------------------------------------------------------------- */

uint32_t models_family(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_models; i++)
        n += models[i].parts[1].exact != NULL ? 2 : 1;
    return n;
}

/* 2 f(h / 2) - f(h), batch by batch: the workloads are the same, so most of the noise is, too. */
static void extrapolate(struct sample *at_half, const struct sample *at_whole)
{
    cr_assert_eq(at_half->n, at_whole->n);
    for (uint32_t i = 0; i < at_half->n; i++)
        at_half->mean[i] = 2 * at_half->mean[i] - at_whole->mean[i];
}

void model_measure(const struct model *m, double stretch, struct interval out[2])
{
    struct queue q = m->q;
    struct queue_result *r = calloc(2, sizeof *r);
    cr_assert_not_null(r);
    q.stretch = stretch;
    queue_run(&r[0], &q);
    if (m->half_value != NULL) {
        r[1] = r[0];
        q.value = m->half_value;
        queue_run(&r[0], &q);
        extrapolate(&r[0].samples[MEASURE_RESPONSE], &r[1].samples[MEASURE_RESPONSE]);
    }
    if (m->parts[0].measure == MEASURE_NUMBER)
        cr_assert_eq(r->waited, UINT64_C(0), "%s: a job waited, though there are more GPUs than jobs", m->name);
    for (int k = 0; k < 2 && m->parts[k].exact != NULL; k++)
        out[k] = interval_of(&r->samples[m->parts[k].measure], m->has_control ? &r->samples[MEASURE_WORK] : NULL,
                             mg1_wait(q.service, q.load), models_family());
    free(r);
}

void report_line(const char *format, ...)
{
    const char *path = getenv("BRAID_REPORT");
    if (path == NULL)
        return;
    char line[512]; /* written at once: tests run beside each other */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    cr_assert(n > 0 && (size_t)n < sizeof line);
    FILE *f = fopen(path, "a");
    cr_assert_not_null(f, "cannot append to %s", path);
    fprintf(f, "%s\n", line);
    cr_assert_eq(fclose(f), 0);
}

static void compare(const struct model *m, const struct model_part *part, const struct interval *i)
{
    double exact = part->exact(&m->q), load = m->q.load * (part->measure >= MEASURE_NUMBER ? m->q.servers : 1);
    const char *quantity = quantities[part->measure];
    uint32_t n = m->q.runs * (RUN_JOBS / m->q.batch_jobs - 1);
    report_line("theory\t%s\t%s\t%g\t%.7g\t%.7g\t%.3g\t%g", m->name, quantity, load, exact, i->mean, i->half_width,
                part->tolerance);
    cr_expect(interval_holds(i, exact), "%s, load %g: %s is %g, theory says %g (half-width %g)", m->name, load,
              quantity, i->mean, exact, i->half_width);
    cr_expect_leq(i->half_width, part->tolerance * exact,
                  "%s, load %g: half-width of %s is %.2f %%, the table allows %.2f %%", m->name, load, quantity,
                  i->half_width / exact * 100, part->tolerance * 100);
    cr_expect_lt(i->correlation, 4 / sqrt(n), "%s, load %g: batches of %s are correlated by %g", m->name, load,
                 quantity, i->correlation);
}

void models_check(const char *name)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_models; i++) {
        const struct model *m = &models[i];
        if (strcmp(m->name, name) != 0)
            continue;
        struct interval out[2];
        model_measure(m, 0, out);
        for (int k = 0; k < 2 && m->parts[k].exact != NULL; k++)
            compare(m, &m->parts[k], &out[k]);
        n++;
    }
    cr_assert_gt(n, 0u, "no model %s", name);
}
