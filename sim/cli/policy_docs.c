/* policy_docs.c - docs/policies.md from the descriptors of policies, parts and placements. */
#include "cli/policy_docs.h"

#include "cluster/placement.h"
#include "policies/order.h"
#include "policies/registry.h"

#include <stdbool.h>
#include <string.h>

static const struct knows_word {
    uint32_t bit;
    const char *word;
    const char *heading; /* of those that know this and nothing further down */
} knows_words[] = {
    {KNOWS_PROFILE, "profile", "the stage times of an iteration"},
    {KNOWS_DEADLINE, "deadline", "deadlines"},
    {KNOWS_ESTIMATE, "estimate", "an estimate of the run time (`estimate:` in the config; exact by default)"},
    {KNOWS_DURATION, "duration", "the true run time (oracles, for comparison)"},
    {KNOWS_RECORD, "record", "what the trace recorded"},
};

enum { N_KNOWS = sizeof knows_words / sizeof knows_words[0] };

const char *policy_knows_text(uint32_t knows, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < N_KNOWS; i++)
        if (knows & knows_words[i].bit)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", knows_words[i].word);
    if (used == 0)
        snprintf(out, size, "-");
    return out;
}

const char *param_type_text(enum param_type type)
{
    static const char *const types[] = {
        [PARAM_INT] = "whole number",        [PARAM_NUMBER] = "number",       [PARAM_TIME] = "time",
        [PARAM_BOOL] = "true or false",      [PARAM_TEXT] = "text",           [PARAM_CHOICE] = "word",
        [PARAM_NUMBERS] = "list of numbers", [PARAM_PATH] = "path of a file",
    };
    return types[type];
}

const char *param_range_text(const struct param_spec *p, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    if (p->choices != NULL) {
        used = (size_t)snprintf(out, size, "one of ");
        for (const char *at = p->choices; *at != '\0' && used + 1 < size;) {
            size_t n = strcspn(at, "|");
            used += (size_t)snprintf(out + used, size - used, "%.*s%s", (int)n, at, at[n] == '|' ? ", " : "");
            at += n + (at[n] == '|');
        }
    } else if (p->min != 0 || p->max != 0) {
        used = (size_t)snprintf(out, size, "%g to %g", p->min, p->max);
    }
    if (p->unit != NULL && p->unit[0] != '\0' && used < size)
        snprintf(out + used, size - used, "%s(%s)", used > 0 ? " " : "", p->unit);
    return out;
}

/* A cell of a table: '|' would end it. */
static void write_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* The last row of knows_words that applies; N_KNOWS for none. */
static size_t group_of(uint32_t knows)
{
    size_t group = N_KNOWS;
    for (size_t i = 0; i < N_KNOWS; i++)
        if (knows & knows_words[i].bit)
            group = i;
    return group;
}

static void write_group(FILE *out, size_t group)
{
    char knows[80];
    bool is_first = true;
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        if (group_of((*p)->knows) != group)
            continue;
        if (is_first)
            fprintf(out,
                    "\n### May know: %s\n\n| policy | knows | preempts | queue | what it does |\n| --- | --- | --- | "
                    "--- | --- |\n",
                    group < N_KNOWS ? knows_words[group].heading
                                    : "submission, demand, user, priority, attained service");
        is_first = false;
        fprintf(out, "| [`%s`](#%s) | %s | %s | %s | ", (*p)->name, (*p)->name,
                policy_knows_text((*p)->knows, knows, sizeof knows), policy_preempts(*p) ? "yes" : "no",
                (*p)->scope == SCOPE_VC ? "each VC" : "one");
        write_cell(out, (*p)->summary);
        fputs(" |\n", out);
    }
}

static void write_params(FILE *out, const struct param_spec *params, size_t n)
{
    char range[512];
    if (n == 0)
        return;
    fputs("\n| parameter | type | default | range | |\n| --- | --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < n; i++) {
        const char *def = params[i].def == NULL ? "required" : params[i].def[0] != '\0' ? params[i].def : "none";
        fprintf(out, "| `%s` | %s | %s | ", params[i].name, param_type_text(params[i].type), def);
        write_cell(out, param_range_text(&params[i], range, sizeof range));
        fputs(" | ", out);
        write_cell(out, params[i].help);
        fputs(" |\n", out);
    }
}

/* Whether a policy is the composition `compose` with other defaults. */
static bool is_composition(const struct policy_ops *p)
{
    const struct policy_ops *compose = policy_find("compose");
    return p != compose && p->init == compose->init;
}

static void write_composition(FILE *out, const struct policy_ops *p)
{
    const char *before = "\nThe composition {";
    for (size_t i = 0; i < p->n_params; i++)
        if (p->params[i].type == PARAM_CHOICE) {
            fprintf(out, "%s%s: %s", before, p->params[i].name, p->params[i].def);
            before = ", ";
        }
    fputs("}; its parameters are those of [`compose`](#compose).\n", out);
}

static void write_policies(FILE *out)
{
    char knows[80];
    fputs("\n## Each policy\n", out);
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        fprintf(out, "\n### %s\n\n%s.\n\nSource: %s. Knows: %s.\n", (*p)->name, (*p)->summary, (*p)->source,
                policy_knows_text((*p)->knows, knows, sizeof knows));
        if (is_composition(*p))
            write_composition(out, *p);
        else
            write_params(out, (*p)->params, (*p)->n_params);
    }
}

static void write_parts(FILE *out)
{
    char knows[80], range[512];
    const struct policy_ops *compose = policy_find("compose");
    fputs("\n## Parts\n\n`policy: {order: .., fill: .., ..}` is a policy made of parts; most of the names above stand "
          "for one. What fills and "
          "rules of preemption mean\nis in [compose.h](../policies/compose.h).\n\n| order | knows | who comes first | "
          "source |\n| --- | --- | --- | "
          "--- |\n",
          out);
    for (const struct order_ops *const *o = order_list(); *o != NULL; o++)
        fprintf(out, "| `%s` | %s | %s | %s |\n", (*o)->name, policy_knows_text((*o)->knows, knows, sizeof knows),
                (*o)->summary, (*o)->source);
    fputs("\n| part | one of | |\n| --- | --- | --- |\n", out);
    for (size_t i = 0; i < compose->n_params; i++)
        if (compose->params[i].type == PARAM_CHOICE && strcmp(compose->params[i].name, "order") != 0)
            fprintf(out, "| `%s` | %s | %s |\n", compose->params[i].name,
                    param_range_text(&compose->params[i], range, sizeof range) + strlen("one of "),
                    compose->params[i].help);
}

static void write_placements(FILE *out)
{
    fputs("\n## Placements\n\n`placement: NAME` says where a job goes; every policy that does not place jobs itself "
          "uses it.\n\n"
          "| placement | rule | what it does | source |\n| --- | --- | --- | --- |\n",
          out);
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++)
        fprintf(out, "| `%s` | %s | %s | %s |\n", (*p)->name, (*p)->rule == PLACEMENT_PACKED ? "packed" : "pool",
                (*p)->summary, (*p)->source);
    fputs("\nPacked: a job of at most a node's GPUs gets one node, a larger one whole nodes and one rest. Pool: any "
          "free GPUs.\n",
          out);
}

/* What holds for every policy that promises or predicts. */
static void write_reservations(FILE *out)
{
    fputs("\n## Reservations\n\n"
          "`easy`, every `fill: easy` and `conservative` reserve what placement looks at: GPUs of the type that a job "
          "asks for, the CPU and host "
          "memory that go with\nthem on each node, and the quota. A reservation begins at the first instant at which, "
          "by the predicted ends of the jobs that run, the "
          "rule of the placement\nhas a place for the job. Under `fill: easy` the first job that does not fit holds "
          "one. Another may start if it is predicted to end by "
          "then, or leaves the\nreserved nodes (any GPUs will do: a place for the first job) as they are needed. Under "
          "`conservative` every queued job holds one, for its whole "
          "predicted\nrun and beside all others. If jobs end as predicted, nobody starts later than reserved.\n\n"
          "This is not known to a reservation:\n\n"
          "- What a placement module refuses beyond its rule (`yarn`: jobs over several racks).\n"
          "- What other virtual clusters do with the same nodes (`gpus:` quotas). `easy` then takes their jobs to stay "
          "for ever; `conservative` counts its "
          "queue's\n  GPUs alone, and so it does while a quota is smaller than the nodes.\n\n"
          "## Jobs beyond their estimates\n\n"
          "One rule holds for `conservative`, for `fill: easy`, for the remaining time of `srtf` and `srsf` and for "
          "the plans of the policies that search. "
          "A job that has used\nup its estimate is predicted to go on until the time that it has held GPUs has doubled "
          "since then, but for a second at least; then until it has "
          "doubled again\n(`overrun: double`). With `overrun: now` compositions take it to end in the next nanosecond, "
          "whenever they look: a reservation then begins at "
          "once, nothing\nlong may pass it, and under `srtf` and `srsf` such a job is never displaced. `conservative` "
          "comes up at each predicted end, "
          "compositions look when something\nelse happens. Other uses of estimates (`least_laxity`, `rr_sjf`, "
          "`admission: feasible`, `muri_s`, `themis`) take nothing to be left "
          "of such a job.\n\n"
          "## Ties\n\n"
          "Of jobs with equal values the one submitted first comes first (then the trace's order). A running job comes "
          "before its equals: nobody is displaced by an equal. "
          "In\n`tiresias` that is so inside a queue, too (`within`). In `drf`, `max_min`, `fair_share`, `hierarchical` "
          "and `quota`, of users or groups with equal values, who "
          "was served\nlongest ago comes first and gives last; who never was, in the order of the file of shares, then "
          "of names.\n",
          out);
}

void policy_write_docs(FILE *out)
{
    fputs("# Policies\n\n<!-- Made by `braid policy docs` from the descriptors in policies/; do not edit. -->\n\n"
          "`policy: NAME` or `{name: NAME, PARAMETER: VALUE}` in a config. What a policy may know of a job is declared "
          "and enforced, so the\n"
          "tables below are grouped by it: compare like with like. *Queue*: whether each virtual cluster has an "
          "instance of its own. How to "
          "write\none of your own: [policies/README.md](../policies/README.md).\n\n## By what they may know\n",
          out);
    write_group(out, N_KNOWS);
    for (size_t i = 0; i < N_KNOWS; i++)
        write_group(out, i);
    write_parts(out);
    write_reservations(out);
    write_placements(out);
    write_policies(out);
}
