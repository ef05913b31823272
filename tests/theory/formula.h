/* formula.h - closed forms of queueing theory, in units of the mean service time.
 *
 * `load` is the arrival rate times the mean service time over the number of servers, 0 < load < 1.
 */
#ifndef TESTS_THEORY_FORMULA_H
#define TESTS_THEORY_FORMULA_H

#include "tests/theory/queue.h"

/* M/M/c: probability of waiting (Erlang, 1917) and mean waiting time. With c = 1: load, load / (1 - load). */
double erlang_c(uint32_t servers, double load);
double mmc_wait(uint32_t servers, double load);

/* M/G/1, any order that neither looks at service times nor interrupts: mean wait (Pollaczek, 1930; Khinchine, 1932). */
double mg1_wait(enum service service, double load);

/* M/G/1, processor sharing: mean response, the same for all distributions (Kleinrock, 1967; Sakata et al., 1969). */
double mg1_sharing_response(double load);

/* M/G/1, shortest remaining processing time first: mean response (Schrage and Miller, 1966). Not deterministic service. */
double mg1_srpt_response(enum service service, double load);

/* M/G/1, shortest job first without interruption: mean wait (Phipps, 1956). Not deterministic service. */
double mg1_sjf_wait(enum service service, double load);

/* M/G/1, two classes of the same service, the urgent one (this share of all arrivals) first, without interruption: mean waits
 * (Cobham, 1954). */
double mg1_urgent_wait(enum service service, double load, double urgent);
double mg1_patient_wait(enum service service, double load, double urgent);

/* M/G/infinity: the number in system is Poisson, whatever the service: its mean, and that of N (N - 1). */
double mginf_number(double offered);
double mginf_pairs(double offered);

#endif
