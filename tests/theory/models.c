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

/* What is measured, and what theory says of it. */
#define WAIT MEASURE_WAIT, exact_wait
#define WAITED MEASURE_WAITED, exact_waited
#define WAIT_SJF MEASURE_WAIT, exact_sjf
#define WAIT_URGENT MEASURE_WAIT_URGENT, exact_urgent
#define WAIT_PATIENT MEASURE_WAIT_PATIENT, exact_patient
#define RESPONSE_SRPT MEASURE_RESPONSE, exact_srpt
/* Policies that know no sizes and interrupt: with exponential service all have it, whatever the quantum. */
#define RESPONSE_SHARING MEASURE_RESPONSE, exact_sharing
#define NUMBER MEASURE_NUMBER, exact_number
#define PAIRS MEASURE_PAIRS, exact_pairs

#define URGENT 0.4

/* clang-format off: a line a model */
/* name, {policy, service, servers, load, runs, jobs a batch, seed, parameter, value, urgent}, {measure, tolerance}s, control, half value */
const struct model models[] = {
    {"M/M/1 fifo", {"fifo", M, 1, 0.5, 3, 5000, 11}, {{WAIT, 0.02}, {WAITED, 0.01}}},
    {"M/M/1 fifo", {"fifo", M, 1, 0.7, 7, 10000, 12}, {{WAIT, 0.02}, {WAITED, 0.01}}},
    {"M/M/1 fifo", {"fifo", M, 1, 0.9, 7, 20000, 13}, {{WAIT, 0.06}, {WAITED, 0.02}}},
    {"M/M/2 fifo", {"fifo", M, 2, 0.5, 5, 5000, 14}, {{WAIT, 0.02}, {WAITED, 0.01}}},
    {"M/M/4 fifo", {"fifo", M, 4, 0.7, 14, 10000, 15}, {{WAIT, 0.02}, {WAITED, 0.01}}},
    {"M/M/4 fifo", {"fifo", M, 4, 0.9, 7, 20000, 16}, {{WAIT, 0.06}, {WAITED, 0.02}}},
    {"M/M/16 fifo", {"fifo", M, 16, 0.9, 7, 20000, 17}, {{WAIT, 0.07}, {WAITED, 0.02}}},
    {"M/D/1 fifo", {"fifo", D, 1, 0.5, 2, 5000, 18}, {{WAIT, 0.02}}},
    {"M/D/1 fifo", {"fifo", D, 1, 0.7, 5, 10000, 19}, {{WAIT, 0.02}}},
    {"M/D/1 fifo", {"fifo", D, 1, 0.9, 4, 20000, 20}, {{WAIT, 0.06}}},
    {"M/LN/1 fifo", {"fifo", LN, 1, 0.5, 8, 10000, 21}, {{WAIT, 0.02}}},
    {"M/LN/1 fifo", {"fifo", LN, 1, 0.7, 14, 20000, 22}, {{WAIT, 0.02}}},
    {"M/LN/1 fifo", {"fifo", LN, 1, 0.9, 7, 20000, 23}, {{WAIT, 0.08}}},
    {"M/M/1 random", {"random", M, 1, 0.7, 7, 10000, 31}, {{WAIT, 0.02}}},
    {"M/M/1 sjf", {"sjf", M, 1, 0.5, 3, 5000, 32}, {{WAIT_SJF, 0.02}}},
    {"M/M/1 sjf", {"sjf", M, 1, 0.7, 6, 10000, 33}, {{WAIT_SJF, 0.02}}},
    {"M/M/1 srtf", {"srtf", M, 1, 0.5, 1, 5000, 34}, {{RESPONSE_SRPT, 0.02}}},
    {"M/M/1 srtf", {"srtf", M, 1, 0.7, 2, 10000, 35}, {{RESPONSE_SRPT, 0.02}}},
    {"M/M/1 srtf", {"srtf", M, 1, 0.9, 4, 20000, 36}, {{RESPONSE_SRPT, 0.05}}},
    {"M/LN/1 srtf", {"srtf", LN, 1, 0.5, 1, 5000, 37}, {{RESPONSE_SRPT, 0.02}}},
    {"M/LN/1 srtf", {"srtf", LN, 1, 0.7, 2, 10000, 38}, {{RESPONSE_SRPT, 0.02}}},
    {"M/LN/1 srtf", {"srtf", LN, 1, 0.9, 4, 20000, 39}, {{RESPONSE_SRPT, 0.05}}},
    {"M/M/1 priority",
     {"priority", M, 1, 0.7, 9, 20000, 41, "ageing", "0 s", URGENT},
     {{WAIT_URGENT, 0.02}, {WAIT_PATIENT, 0.02}}},
    {"M/M/1 las", {"las", M, 1, 0.7, 1, 10000, 51, "quantum", "20 s"}, {{RESPONSE_SHARING, 0.02}}, true},
    {"M/M/1 tiresias",
     {"tiresias", M, 1, 0.7, 1, 10000, 52, "thresholds", "[50, 150]"},
     {{RESPONSE_SHARING, 0.02}},
     true},
    {"M/M/1 round_robin",
     {"round_robin", M, 1, 0.5, 1, 10000, 53, "quantum", "50 s"},
     {{RESPONSE_SHARING, 0.02}},
     true},
    {"M/M/1 round_robin",
     {"round_robin", M, 1, 0.7, 1, 10000, 54, "quantum", "50 s"},
     {{RESPONSE_SHARING, 0.02}},
     true},
    {"M/M/1 round_robin",
     {"round_robin", M, 1, 0.9, 1, 10000, 55, "quantum", "50 s"},
     {{RESPONSE_SHARING, 0.02}},
     true},
    {"M/D/1 round_robin, quantum to 0",
     {"round_robin", D, 1, 0.5, 1, 10000, 61, "quantum", "20 s"},
     {{RESPONSE_SHARING, 0.02}},
     false,
     "10 s"},
    {"M/D/1 round_robin, quantum to 0",
     {"round_robin", D, 1, 0.7, 2, 10000, 62, "quantum", "20 s"},
     {{RESPONSE_SHARING, 0.02}},
     false,
     "10 s"},
    {"M/LN/1 round_robin, quantum to 0",
     {"round_robin", LN, 1, 0.5, 1, 10000, 63, "quantum", "40 s"},
     {{RESPONSE_SHARING, 0.02}},
     true,
     "20 s"},
    {"M/LN/1 round_robin, quantum to 0",
     {"round_robin", LN, 1, 0.7, 3, 10000, 64, "quantum", "40 s"},
     {{RESPONSE_SHARING, 0.02}},
     true,
     "20 s"},
    {"M/M/inf", {"fifo", M, 256, 10 / 256.0, 2, 10000, 71}, {{NUMBER, 0.01}, {PAIRS, 0.02}}},
    {"M/M/inf", {"fifo", M, 256, 60 / 256.0, 2, 10000, 72}, {{NUMBER, 0.01}, {PAIRS, 0.02}}},
    {"M/D/inf", {"fifo", D, 256, 10 / 256.0, 2, 10000, 73}, {{NUMBER, 0.01}, {PAIRS, 0.02}}},
    {"M/D/inf", {"fifo", D, 256, 60 / 256.0, 2, 10000, 74}, {{NUMBER, 0.01}, {PAIRS, 0.02}}},
    {"M/LN/inf", {"fifo", LN, 256, 10 / 256.0, 2, 10000, 75}, {{NUMBER, 0.01}, {PAIRS, 0.02}}},
    {"M/LN/inf", {"fifo", LN, 256, 60 / 256.0, 2, 10000, 76}, {{NUMBER, 0.01}, {PAIRS, 0.02}}},
};
/* clang-format on */
const uint32_t n_models = sizeof models / sizeof *models;

const char *measure_text(enum measure m)
{
    static const char *const texts[N_MEASURES] = {
        [MEASURE_RESPONSE] = "mean response",
        [MEASURE_WAIT] = "mean wait",
        [MEASURE_WAITED] = "probability of waiting",
        [MEASURE_WAIT_URGENT] = "mean wait of the urgent 40 %",
        [MEASURE_WAIT_PATIENT] = "mean wait of the others",
        [MEASURE_NUMBER] = "mean number in system N",
        [MEASURE_PAIRS] = "mean of N (N - 1)",
    };
    return texts[m];
}

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
    const char *quantity = measure_text(part->measure);
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
