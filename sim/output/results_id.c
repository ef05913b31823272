/* results_id.c - what names a run, and what tells two schedules apart. */
#include "output/results.h"
#include "output/results_schema.h"

#include "base/number.h"
#include "output/export_number.h"

#include <stdio.h>
#include <string.h>

void results_run_id(const struct run_config *config, const struct workload *w, char *out)
{
    struct digest d;
    uint8_t bytes[DIGEST_BYTES];
    digest_init(&d);
    digest_add_text(&d, config->identity, strlen(config->identity));
    digest_add_bytes(&d, w->digest, DIGEST_BYTES);
    digest_add_u64(&d, RESULTS_SCHEMA);
    digest_final(&d, bytes);
    digest_hex(bytes, RUN_ID_HEX / 2, out);
}

/* Signed and small values in few bytes: zigzag, then seven bits a byte. Hashing is what this costs, so less is hashed. */
static uint8_t *put_i64(uint8_t *to, int64_t value)
{
    uint64_t v = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

void results_digest(const struct run_result *r, const struct workload *w, char out_hex[DIGEST_HEX + 1])
{
    struct digest d;
    uint8_t bytes[DIGEST_BYTES];
    digest_init(&d);
    digest_add_u64(&d, r->n_jobs);
    for (uint32_t i = 0; i < r->n_jobs; i++) {
        const struct job *j = &r->jobs[i];
        uint8_t row[12 * 10], *to = row; /* in order of rank */
        to = put_i64(to, w->submit_ns[i]);
        to = put_i64(to, j->start_ns);
        to = put_i64(to, j->end_ns);
        to = put_i64(to, j->run_ns);
        to = put_i64(to, j->overhead_ns);
        to = put_i64(to, j->lost_ns);
        to = put_i64(to, j->gpu_ns);
        to = put_i64(to, w->gpus[i]);
        to = put_i64(to, j->preemptions);
        to = put_i64(to, j->moves);
        to = put_i64(to, j->restarts);
        *to++ = j->status;
        digest_add_bytes(&d, row, (size_t)(to - row));
    }
    digest_final(&d, bytes);
    digest_hex(bytes, DIGEST_BYTES, out_hex);
}

const char *results_output_text(const struct output_spec *o, bool keeps_jobs, char *out, size_t size)
{
    char step[EXPORT_NUMBER_MAX], series[64] = "";
    if (o->series_step_ns > 0)
        snprintf(series, sizeof series, ", series %s s", number_shortest((double)o->series_step_ns / NS_PER_S, step));
    snprintf(out, size, "summary%s%s%s%s", keeps_jobs ? ", jobs" : "", series, o->segments ? ", segments" : "",
             o->events ? ", events" : "");
    return out;
}
