#include "traces/mapping.h"

#include "base/number.h"
#include "traces/reader.h"

#include <stdio.h>
#include <string.h>

static const struct mapping_target targets[] = {
    {"submit", OF_SUBMIT, MAPPING_STAMP},
    {"id", OF_ID, MAPPING_TEXT},
    {"gpus", OF_GPUS, MAPPING_GPUS},
    {"duration", OF_DURATION, MAPPING_SPAN},
    {"start", OF_START, MAPPING_STAMP},
    {"end", OF_END, MAPPING_STAMP},
    {"estimate", OF_ESTIMATE, MAPPING_SPAN},
    {"deadline", OF_DEADLINE, MAPPING_STAMP},
    {"vc", OF_VC, MAPPING_TEXT},
    {"user", OF_USER, MAPPING_TEXT},
    {"name", OF_NAME, MAPPING_TEXT},
    {"model", OF_MODEL, MAPPING_TEXT},
    {"status", OF_STATUS, MAPPING_STATUS},
    {"priority", OF_PRIORITY, MAPPING_PLAIN},
    {"cpus", OF_CPUS, MAPPING_CPUS},
    {"memory", OF_MEMORY, MAPPING_SIZE},
    {"gpu_memory", OF_GPU_MEMORY, MAPPING_SIZE},
    {"gpu_type", OF_GPU_TYPE, MAPPING_TEXT},
    {"gpu_milli", OF_GPU_MILLI, MAPPING_PLAIN},
    {"batch", OF_BATCH, MAPPING_PLAIN},
    {"iterations", OF_ITERATIONS, MAPPING_PLAIN},
    {"iteration_time", OF_ITERATION_TIME, MAPPING_SPAN},
    {"stage_storage", OF_STAGE_STORAGE, MAPPING_SPAN},
    {"stage_cpu", OF_STAGE_CPU, MAPPING_SPAN},
    {"stage_gpu", OF_STAGE_GPU, MAPPING_SPAN},
    {"stage_network", OF_STAGE_NETWORK, MAPPING_SPAN},
    {"depends", OF_DEPENDS, MAPPING_TEXT},
    {"order", OF_ORDER, MAPPING_PLAIN},
};
_Static_assert(sizeof targets / sizeof targets[0] == MAPPING_TARGETS,
               "struct trace_mapping has a place for each target");

static const struct mapping_unit units[] = {
    {"ns", 1, .is_time = true},
    {"us", 1000, .is_time = true},
    {"ms", 1000000, .is_time = true},
    {"s", NS_PER_S, .is_time = true},
    {"min", 60 * NS_PER_S, .is_time = true},
    {"h", 3600 * NS_PER_S, .is_time = true},
    {"d", 86400 * NS_PER_S, .is_time = true},
    {"unix", NS_PER_S, .is_unix = true},
    {"unix_ms", 1000000, .is_unix = true},
    {"unix_us", 1000, .is_unix = true},
    {"unix_ns", 1, .is_unix = true},
    {"milli", 1, .is_share = true},
    {"percent", 10, .is_share = true},
    {"B", 1, .is_size = true},
    {"KB", 1000, .is_size = true},
    {"MB", 1000000, .is_size = true},
    {"GB", 1000000000, .is_size = true},
    {"TB", INT64_C(1000000000000), .is_size = true},
    {"KiB", INT64_C(1) << 10, .is_size = true},
    {"MiB", INT64_C(1) << 20, .is_size = true},
    {"GiB", INT64_C(1) << 30, .is_size = true},
    {"TiB", INT64_C(1) << 40, .is_size = true},
};

const struct mapping_target *mapping_targets(uint32_t *n)
{
    *n = MAPPING_TARGETS;
    return targets;
}

uint32_t mapping_target_find(const char *name)
{
    uint32_t t = 0;
    while (t < MAPPING_TARGETS && strcmp(targets[t].name, name) != 0)
        t++;
    return t;
}

const struct mapping_unit *mapping_unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* ---- checks ---------------------------------------------------------------------------------------------------------- */

static int bad(const struct mapping_target *t, const char *what, struct error *err)
{
    return error_set(err, BRAID_BAD_INPUT, "'%s' %s", t->name, what);
}

static bool unit_suits(enum mapping_kind kind, const struct mapping_unit *u)
{
    switch (kind) {
    case MAPPING_STAMP:
        return u->is_time || u->is_unix;
    case MAPPING_SPAN:
        return u->is_time;
    case MAPPING_GPUS:
        return u->is_share;
    case MAPPING_CPUS:
        return u->is_share;
    case MAPPING_SIZE:
        return u->is_size;
    case MAPPING_TEXT:
    case MAPPING_PLAIN:
    case MAPPING_STATUS:
        break;
    }
    return false;
}

static const char *units_of(enum mapping_kind kind)
{
    switch (kind) {
    case MAPPING_STAMP:
        return "takes a unit of time (ns us ms s min h d, or unix unix_ms unix_us unix_ns for times since 1970)";
    case MAPPING_SPAN:
        return "takes a unit of time: ns us ms s min h d";
    case MAPPING_GPUS:
    case MAPPING_CPUS:
        return "takes the unit milli or percent, or none";
    case MAPPING_SIZE:
        return "takes a unit of size: B KB MB GB TB KiB MiB GiB TiB";
    case MAPPING_TEXT:
    case MAPPING_PLAIN:
    case MAPPING_STATUS:
        break;
    }
    return "has no unit; leave it out";
}

int mapping_check_source(const struct mapping_target *t, const struct mapping_source *s, struct error *err)
{
    bool is_amount = t->kind == MAPPING_GPUS || t->kind == MAPPING_CPUS || t->kind == MAPPING_SIZE;
    bool is_span = t->kind == MAPPING_SPAN, is_type = t->of == OF_GPU_TYPE;
    bool has_words = s->passed.n > 0 || s->failed.n > 0 || s->killed.n > 0 || s->codes != JOB_CODES_NONE;
    int n = (s->column != NULL) + (s->constant != NULL) + (s->from != NULL || s->to != NULL);
    if (n == 0)
        return bad(t, "names no source; give 'column', 'constant', or 'from' and 'to'", err);
    if (n > 1)
        return bad(t, "has more than one source; give one of 'column', 'constant', or 'from' and 'to'", err);
    if ((s->from != NULL) != (s->to != NULL))
        return bad(t, "needs both 'from' and 'to'", err);
    if (s->from != NULL && !is_span)
        return bad(t, "is no span, so it has no 'from' and 'to'", err);
    if (s->times != NULL && !is_amount && !is_span)
        return bad(t, "is no amount, so it cannot be multiplied by 'times'", err);
    if ((s->times != NULL || s->plus != NULL || s->tres.n > 0) && s->column == NULL)
        return bad(t, "needs 'column' beside 'times', 'plus' or 'tres'", err);
    if (s->plus != NULL && t->kind != MAPPING_STAMP)
        return bad(t, "is no time of the clock, so no span can be added with 'plus'", err);
    if (s->tres.n > 0 && !is_amount && !is_type)
        return bad(t, "is no resource, so it has no 'tres'", err);
    if (has_words && t->kind != MAPPING_STATUS)
        return bad(t, "is no status; 'codes', 'passed', 'failed' and 'killed' are for 'status'", err);
    if (s->unit == NULL)
        return BRAID_OK;
    const struct mapping_unit *u = mapping_unit_find(s->unit);
    bool is_from_clock = s->from != NULL && u != NULL && u->is_unix;
    if (u == NULL || (!unit_suits(t->kind, u) && !is_from_clock))
        return bad(t, units_of(t->kind), err);
    if (strcmp(u->name, "percent") == 0 && t->kind == MAPPING_GPUS && (s->times != NULL || s->tres.n > 0))
        return bad(t, "in percent cannot be multiplied or picked from a list", err);
    return BRAID_OK;
}

int mapping_check(const struct trace_mapping *m, struct error *err)
{
    const struct mapping_unit *u = m->unit != NULL ? mapping_unit_find(m->unit) : NULL;
    if (m->unit != NULL && (u == NULL || !(u->is_time || u->is_unix)))
        return error_set(err, BRAID_BAD_INPUT, "'unit' is a unit of time, not '%.40s': ns us ms s min h d", m->unit);
    if (!m->is_given[mapping_target_find("submit")])
        return error_set(err, BRAID_BAD_INPUT,
                         "no column is mapped to 'submit'; write submit: NAME of the column with the submission");
    if (!m->is_given[mapping_target_find("gpus")])
        return error_set(err, BRAID_BAD_INPUT,
                         "no column is mapped to 'gpus'; write gpus: NAME, or gpus: {constant: 1}");
    if (!m->is_given[mapping_target_find("duration")] &&
        !(m->is_given[mapping_target_find("start")] && m->is_given[mapping_target_find("end")]))
        return error_set(
            err, BRAID_BAD_INPUT,
            "no run time: write duration: NAME, duration: {from: NAME, to: NAME}, or both 'start' and 'end'");
    return BRAID_OK;
}
