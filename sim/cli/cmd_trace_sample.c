/* braid trace sample: days, virtual clusters or users of a trace, or a bootstrap of its days. */
#include "cli/cmd_trace.h"

#include "base/number.h"
#include "traces/sample.h"
#include "traces/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "A:B", either of which may be left out. */
static bool parse_days(const char *text, struct sample_spec *spec)
{
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return false;
    spec->has_days = true;
    spec->day_begin = 0;
    spec->day_end = INT64_MAX;
    bool has_begin = colon > text, has_end = colon[1] != '\0';
    return (!has_begin || number_parse_i64(text, (size_t)(colon - text), &spec->day_begin)) &&
           (!has_end || number_parse_i64(colon + 1, strlen(colon + 1), &spec->day_end)) && spec->day_begin >= 0 &&
           spec->day_end > spec->day_begin;
}

/* "a,b,c" as a list in memory of its own: the pointers, then the text. NULL: out of memory. */
static const char **split_list(const char *text, uint32_t *n)
{
    uint32_t count = 1;
    for (const char *p = text; *p != '\0'; p++)
        count += *p == ',';
    const char **list = malloc(count * sizeof *list + strlen(text) + 1);
    if (list == NULL)
        return NULL;
    char *copy = strcpy((char *)(list + count), text);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = copy;
        copy += strcspn(copy, ",");
        *copy++ = '\0';
    }
    *n = count;
    return list;
}

static int check(const struct trace_arguments *a, struct sample_spec *spec)
{
    static const char command[] = "trace sample";
    uint64_t length = 0;
    if (a->output == NULL)
        return cli_usage(command, "where to? give -o FILE.csv or FILE.csv.gz");
    if (a->days != NULL && !parse_days(a->days, spec))
        return cli_usage(command,
                         "--days is A:B, whole numbers from 0 with A below B (day A is in, day B is not), not '%s'",
                         a->days);
    spec->seed = 1;
    if (a->seed != NULL && !number_parse_u64(a->seed, strlen(a->seed), &spec->seed))
        return cli_usage(command, "--seed is a whole number, not '%s'", a->seed);
    if (a->length != NULL &&
        (!number_parse_u64(a->length, strlen(a->length), &length) || length == 0 || length > UINT32_MAX))
        return cli_usage(command, "--length is a number of days above 0, not '%s'", a->length);
    if (!a->bootstrap && (a->seed != NULL || a->length != NULL || a->same_weekday))
        return cli_usage(command, "--seed, --length and --same-weekday are for --bootstrap");
    spec->length_days = (uint32_t)length;
    spec->is_bootstrap = a->bootstrap;
    spec->same_weekday = a->same_weekday;
    return 0;
}

int cmd_trace_sample(int argc, char **argv)
{
    static const char help[] =
        "usage: braid trace sample FILE -o OUT.csv[.gz] [--days A:B] [--vcs NAME,...] [--users NAME,...]\n"
        "                          [--bootstrap [--seed S] [--length DAYS] [--same-weekday]] [--format NAME]\n"
        "                          [--failed run|drop|merge_attempts] [--applications FILE] [--strict]\n"
        "                          [--columns LIST [--separator NAME] [--header WORD] [--unit UNIT]]\n\n"
        "Keep a part of a trace, or draw a new one from its days, in braid's own csv.\n\n"
        "  --days A:B       days A to B - 1; day 0 is that of the first submission (UTC)\n"
        "  --vcs, --users   jobs of these alone\n"
        "  --bootstrap      put days, drawn at random with replacement, one behind the other; jobs keep their time of\n"
        "                   day. The first and the last day, which the trace cuts off, are not drawn\n"
        "  --seed S         another draw (default 1)\n"
        "  --length DAYS    so many days (default: as many as can be drawn)\n"
        "  --same-weekday   a day only stands for a day of the same name, which keeps the weekly cycle\n\n";
    struct trace_arguments a;
    struct sample_spec spec = {0};
    int stop = trace_arguments_read(&a, "fmasodvubSlwCXHU", 1, help, argc, argv);
    if (stop > 0)
        return stop - 1;
    int usage = check(&a, &spec);
    if (usage != 0)
        return usage;
    struct workload w, sample;
    struct error err = {0};
    const char **vcs = a.vcs != NULL ? split_list(a.vcs, &spec.n_vcs) : NULL;
    const char **users = a.users != NULL ? split_list(a.users, &spec.n_users) : NULL;
    spec.vcs = vcs;
    spec.users = users;
    workload_init(&w);
    workload_init(&sample);
    int code = BRAID_OK;
    if ((a.vcs != NULL && vcs == NULL) || (a.users != NULL && users == NULL))
        code = error_set(&err, BRAID_FAILED, "out of memory");
    if (code == BRAID_OK)
        code = trace_arguments_load(&a, &w, &err);
    if (code == BRAID_OK)
        code = trace_sample(&sample, &w, &spec, &err);
    if (code == BRAID_OK)
        code = trace_write(&sample, a.output, &err);
    if (code == BRAID_OK) {
        fprintf(stderr, "braid: wrote %" PRIu32 " jobs, drawn from %" PRIu32 ", to %s", sample.n_jobs, w.n_jobs,
                a.output);
        trace_dropped_print(&w.report);
    }
    workload_fini(&w);
    workload_fini(&sample);
    free(vcs);
    free(users);
    return code == BRAID_OK ? 0 : cli_fail(&err);
}
