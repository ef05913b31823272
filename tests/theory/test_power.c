/* The test of the test: an engine whose jobs took 3 % too long would be caught by every comparison. And the closed forms, where they are
 * known in another way. */
#include "tests/theory/formula.h"
#include "tests/theory/models.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { RUNS = 3 }; /* no more than that: fewer than the comparison itself has */

/* Plant the error in the first entry of each name that begins with `prefix`. */
static void plant(const char *prefix)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_models; i++) {
        struct model m = models[i];
        if (strncmp(m.name, prefix, strlen(prefix)) != 0 || (i > 0 && strcmp(m.name, models[i - 1].name) == 0))
            continue;
        m.q.runs = m.q.runs < RUNS ? m.q.runs : RUNS;
        struct interval seen[2];
        model_measure(&m, 1.03, seen);
        for (int k = 0; k < 2 && m.parts[k].exact != NULL; k++) {
            double exact = m.parts[k].exact(&m.q);
            report_line("planted\t%s\t%s\t%.7g\t%.7g\t%.3g", m.name, measure_text(m.parts[k].measure), exact,
                        seen[k].mean, seen[k].half_width);
            cr_expect_not(interval_holds(&seen[k], exact),
                          "%s, part %d: service times are 3 %% too long, and %g +- %g still holds %g", m.name, k,
                          seen[k].mean, seen[k].half_width, exact);
        }
        n++;
    }
    cr_assert_gt(n, 0u);
}

Test(theory, a_planted_error_of_three_percent_is_seen_with_one_server)
{
    plant("M/M/1 ");
}

Test(theory, a_planted_error_of_three_percent_is_seen_with_other_distributions)
{
    plant("M/D/1 ");
    plant("M/LN/1 ");
}

Test(theory, a_planted_error_of_three_percent_is_seen_with_more_servers)
{
    plant("M/M/2 ");
    plant("M/M/inf");
    plant("M/D/inf");
    plant("M/LN/inf");
}

Test(theory, intervals_miss_as_rarely_as_they_should)
{
    /* 2,000 samples of 20 numbers that are uniform on [0, 1), at the confidence of one comparison out of one: 1 % miss 1/2. */
    uint64_t state = 1;
    uint32_t missed = 0;
    for (int k = 0; k < 2000; k++) {
        struct sample s = {0};
        for (int i = 0; i < 20; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sample_add(&s, (double)(state >> 11) * 0x1p-53);
        }
        struct interval i = interval_of(&s, NULL, 0, 1);
        missed += !interval_holds(&i, 0.5);
    }
    cr_expect(missed >= 8 && missed <= 35, "%u of 2000 intervals missed, about 20 should", missed);
}

Test(theory, a_control_variate_narrows_the_interval_and_keeps_its_middle)
{
    uint64_t state = 7;
    struct sample s = {0}, control = {0};
    for (int i = 0; i < 200; i++) {
        double u[2];
        for (int k = 0; k < 2; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            u[k] = (double)(state >> 11) * 0x1p-53;
        }
        sample_add(&control, u[0]);
        sample_add(&s, 3 + 2 * u[0] + 0.1 * u[1]); /* mean 4.05 */
    }
    struct interval plain = interval_of(&s, NULL, 0, 10), controlled = interval_of(&s, &control, 0.5, 10);
    cr_expect(interval_holds(&plain, 4.05));
    cr_expect(interval_holds(&controlled, 4.05));
    cr_expect_lt(controlled.half_width, plain.half_width / 10);
}

/* ---- closed forms --------------------------------------------------------------------------------------- */

/* Erlang C as its definition writes it. */
static double erlang_c_by_sum(int servers, double load)
{
    double a = load * servers, sum = 0, last = pow(a, servers) / tgamma(servers + 1) / (1 - load);
    for (int k = 0; k < servers; k++)
        sum += pow(a, k) / tgamma(k + 1);
    return last / (sum + last);
}

Test(theory, erlang_c_is_what_its_definition_says)
{
    for (int servers = 1; servers <= 20; servers++)
        for (double load = 0.1; load < 0.95; load += 0.2)
            cr_expect_float_eq(erlang_c((uint32_t)servers, load), erlang_c_by_sum(servers, load), 1e-12);
    cr_expect_float_eq(erlang_c(1, 0.7), 0.7, 1e-15);
    cr_expect_float_eq(erlang_c(2, 0.5), 1 / 3.0, 1e-15);
}

Test(theory, integrals_agree_with_known_values_and_limits)
{
    cr_expect_float_eq(mg1_srpt_response(SERVICE_EXPONENTIAL, 0.9), 3.5521, 5e-5);
    cr_expect_float_eq(mg1_sjf_wait(SERVICE_EXPONENTIAL, 0.5), 0.712686, 1e-6);
    for (int k = 0; k < 2; k++) {
        enum service service = k == 0 ? SERVICE_EXPONENTIAL : SERVICE_LOGNORMAL;
        cr_expect_float_eq(mg1_srpt_response(service, 1e-6), 1, 1e-5); /* alone: the service itself */
        double previous = 0;
        for (double load = 0.1; load < 0.95; load += 0.2) {
            double srpt = mg1_srpt_response(service, load), sjf = 1 + mg1_sjf_wait(service, load);
            cr_expect(previous < srpt && srpt < sjf && sjf < 1 + mg1_wait(service, load),
                      "SRPT is best, then SJF, then FIFO: %g %g at load %g", srpt, sjf, load);
            previous = srpt;
        }
    }
}

Test(theory, classes_of_priority_keep_the_conservation_law)
{
    const double load = 0.7, urgent = 0.4; /* Kleinrock: the mean over all jobs is that of FIFO */
    double mean = urgent * mg1_urgent_wait(SERVICE_EXPONENTIAL, load, urgent) +
                  (1 - urgent) * mg1_patient_wait(SERVICE_EXPONENTIAL, load, urgent);
    cr_expect_float_eq(mean, mg1_wait(SERVICE_EXPONENTIAL, load), 1e-12);
}
