#include "traces/job_end.h"

#include "base/number.h"

#include <string.h>
#include <strings.h>

enum end { ENDED_WELL, ENDED_BADLY, ENDED_BY_HAND, NOT_SAID, WAITS, RUNS };

static const struct {
    const char *word;
    enum end end;
} words[] = {
    /* Slurm */
    {"COMPLETED", ENDED_WELL},
    {"CANCELLED", ENDED_BY_HAND},
    {"REVOKED", ENDED_BY_HAND},
    {"FAILED", ENDED_BADLY},
    {"TIMEOUT", ENDED_BADLY},
    {"NODE_FAIL", ENDED_BADLY},
    {"OUT_OF_MEMORY", ENDED_BADLY},
    {"BOOT_FAIL", ENDED_BADLY},
    {"DEADLINE", ENDED_BADLY},
    {"PREEMPTED", ENDED_BADLY},
    {"PENDING", WAITS},
    {"REQUEUED", WAITS},
    {"CONFIGURING", WAITS},
    {"RUNNING", RUNS},
    {"SUSPENDED", RUNS},
    {"COMPLETING", RUNS},
    {"RESIZING", RUNS},
    /* and its short forms */
    {"CD", ENDED_WELL},
    {"CA", ENDED_BY_HAND},
    {"F", ENDED_BADLY},
    {"TO", ENDED_BADLY},
    {"NF", ENDED_BADLY},
    {"OOM", ENDED_BADLY},
    {"BF", ENDED_BADLY},
    {"DL", ENDED_BADLY},
    {"PR", ENDED_BADLY},
    {"PD", WAITS},
    {"R", RUNS},
    /* braid, Philly, Helios, PAI, Kubernetes, LSF, Batsim and plain words */
    {"PASS", ENDED_WELL},
    {"PASSED", ENDED_WELL},
    {"COMPLETE", ENDED_WELL},
    {"COMPLETED_SUCCESSFULLY", ENDED_WELL},
    {"SUCCESS", ENDED_WELL},
    {"SUCCEEDED", ENDED_WELL},
    {"SUCCESSFUL", ENDED_WELL},
    {"DONE", ENDED_WELL},
    {"FINISHED", ENDED_WELL},
    {"TERMINATED", ENDED_WELL},
    {"OK", ENDED_WELL},
    {"KILLED", ENDED_BY_HAND},
    {"COMPLETED_WALLTIME_REACHED", ENDED_BADLY},
    {"COMPLETED_KILLED", ENDED_BY_HAND},
    {"COMPLETED_FAILED", ENDED_BADLY},
    {"CANCELED", ENDED_BY_HAND},
    {"STOPPED", ENDED_BY_HAND},
    {"ABORTED", ENDED_BY_HAND},
    {"DELETED", ENDED_BY_HAND},
    {"EVICTED", ENDED_BADLY},
    {"FAIL", ENDED_BADLY},
    {"ERROR", ENDED_BADLY},
    {"EXIT", ENDED_BADLY},
    {"EXITED", ENDED_BADLY},
    {"TIMED_OUT", ENDED_BADLY},
    {"OOMKILLED", ENDED_BADLY},
    {"UNKNOWN", NOT_SAID},
    {"QUEUED", WAITS},
    {"WAITING", WAITS},
    {"SUBMITTED", WAITS},
    {"PEND", WAITS},
    {"RUN", RUNS},
};

static struct job_end of_end(enum end end)
{
    static const enum trace_status statuses[] = {
        [ENDED_WELL] = TRACE_PASSED, [ENDED_BADLY] = TRACE_FAILED, [ENDED_BY_HAND] = TRACE_KILLED,
        [NOT_SAID] = TRACE_UNKNOWN,  [WAITS] = TRACE_UNKNOWN,      [RUNS] = TRACE_UNKNOWN,
    };
    return (struct job_end){
        .status = statuses[end], .is_known = true, .is_waiting = end == WAITS, .is_running = end == RUNS};
}

struct job_end job_end_find(const char *text, size_t n)
{
    const char *blank = n > 0 ? memchr(text, ' ', n) : NULL;
    if (blank != NULL)
        n = (size_t)(blank - text);
    if (n > 0 && text[n - 1] == '+')
        n--;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && n > 0; i++)
        if (strlen(words[i].word) == n && strncasecmp(words[i].word, text, n) == 0)
            return of_end(words[i].end);
    return (struct job_end){.status = TRACE_UNKNOWN};
}

struct job_end job_end_of_code(enum job_codes codes, const char *text, size_t n)
{
    static const enum end slurm[] = {WAITS,       RUNS,        RUNS,        ENDED_WELL,  ENDED_BY_HAND, ENDED_BADLY,
                                     ENDED_BADLY, ENDED_BADLY, ENDED_BADLY, ENDED_BADLY, ENDED_BADLY,   ENDED_BADLY};
    const struct job_end unknown = {.status = TRACE_UNKNOWN};
    const char *colon = codes == JOB_CODES_EXIT && n > 0 ? memchr(text, ':', n) : NULL;
    int64_t code, signal = 0;
    if (colon != NULL && !number_parse_i64(colon + 1, n - (size_t)(colon + 1 - text), &signal))
        return unknown;
    if (!number_parse_i64(text, colon != NULL ? (size_t)(colon - text) : n, &code))
        return unknown;
    switch (codes) {
    case JOB_CODES_NONE:
        break;
    case JOB_CODES_SLURM:
        code &= 0xff;
        return code < (int64_t)(sizeof slurm / sizeof slurm[0]) ? of_end(slurm[code]) : unknown;
    case JOB_CODES_SWF:
        return code == 0   ? of_end(ENDED_BADLY)
               : code == 1 ? of_end(ENDED_WELL)
               : code == 5 ? of_end(ENDED_BY_HAND)
                           : unknown;
    case JOB_CODES_EXIT:
        return of_end(code == 0 && signal == 0 ? ENDED_WELL : ENDED_BADLY);
    }
    return unknown;
}
