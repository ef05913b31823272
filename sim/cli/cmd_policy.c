/* braid policy: what policies, parts and placements there are, and what each takes. */
#include "base/names.h"
#include "cli/cli.h"
#include "cluster/placement.h"
#include "policies/order.h"
#include "policies/registry.h"

#include <stdio.h>
#include <string.h>

static int help(void)
{
    puts("usage: braid policy list          the policies, the parts they are made of, and the placements\n"
         "       braid policy show NAME     one of them: what it does, what it knows, its parameters\n\n"
         "In a config: policy: NAME, {name: NAME, PARAMETER: VALUE}, {order: .., fill: .., preempt: ..} or {plugin: FILE.so}.");
    return cli_finish();
}

static const char *knows_text(uint32_t knows, char *out, size_t size)
{
    static const struct {
        uint32_t bit;
        const char *word;
    } words[] = {{KNOWS_DURATION, "duration"},
                 {KNOWS_ESTIMATE, "estimate"},
                 {KNOWS_PROFILE, "profile"},
                 {KNOWS_DEADLINE, "deadline"},
                 {KNOWS_RECORD, "record"}};
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (knows & words[i].bit)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", words[i].word);
    if (used == 0)
        snprintf(out, size, "-");
    return out;
}

static int list(void)
{
    char knows[80];
    printf("%-16s  %-18s  %-8s  %-8s  %s\n", "POLICY", "KNOWS", "PREEMPTS", "QUEUE", "WHAT IT DOES");
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++)
        printf("%-16s  %-18s  %-8s  %-8s  %s\n", (*p)->name, knows_text((*p)->knows, knows, sizeof knows),
               policy_preempts(*p) ? "yes" : "no", (*p)->scope == SCOPE_VC ? "each VC" : "one", (*p)->summary);
    printf("\nParts of a composition {order: .., fill: .., preempt: ..}\n");
    for (const struct order_ops *const *o = order_list(); *o != NULL; o++)
        printf("  order    %-16s  %s\n", (*o)->name, (*o)->summary);
    const struct policy_ops *compose = policy_find("compose");
    for (size_t i = 0; i < compose->n_params; i++)
        if (compose->params[i].type == PARAM_CHOICE && strcmp(compose->params[i].name, "order") != 0)
            printf("  %-8s %-28s  %s\n", compose->params[i].name, compose->params[i].choices, compose->params[i].help);
    printf("\nPlacements\n");
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++)
        printf("  %-20s  %s\n", (*p)->name, (*p)->summary);
    return cli_finish();
}

static void show_range(const struct param_spec *p)
{
    if (p->choices != NULL)
        printf(", one of %s", p->choices);
    else if (p->min != 0 || p->max != 0)
        printf(", %g to %g", p->min, p->max);
    if (p->unit != NULL && p->unit[0] != '\0')
        printf(" (%s)", p->unit);
}

static void show_params(const struct param_spec *params, size_t n)
{
    static const char *const types[] = {
        [PARAM_INT] = "whole number", [PARAM_NUMBER] = "number",    [PARAM_TIME] = "time",
        [PARAM_BOOL] = "true or false", [PARAM_TEXT] = "text",      [PARAM_CHOICE] = "word",
        [PARAM_NUMBERS] = "list of numbers", [PARAM_PATH] = "path of a file",
    };
    printf("\nparameters%s\n", n == 0 ? ": none" : "");
    for (size_t i = 0; i < n; i++) {
        printf("  %s: %s", params[i].name, types[params[i].type]);
        show_range(&params[i]);
        if (params[i].def != NULL)
            printf(", default %s\n", params[i].def[0] != '\0' ? params[i].def : "none");
        else
            printf(", required\n");
        printf("      %s\n", params[i].help);
    }
}

static int show_unknown(const char *name)
{
    enum { MOST = 256 };
    const char *names[MOST];
    size_t n = 0;
    for (const struct policy_ops *const *p = policy_list(); *p != NULL && n < MOST; p++)
        names[n++] = (*p)->name;
    for (const struct order_ops *const *o = order_list(); *o != NULL && n < MOST; o++)
        names[n++] = (*o)->name;
    for (const struct placement_ops *const *p = placement_list(); *p != NULL && n < MOST; p++)
        names[n++] = (*p)->name;
    const char *near = text_nearest(name, names, n);
    struct error err;
    error_set(&err, BRAID_BAD_INPUT, "unknown policy, part or placement '%s'%s%s%s", name, near != NULL ? "; did you mean '" : "",
              near != NULL ? near : "", near != NULL ? "'?" : "; 'braid policy list' names them all");
    return cli_fail(&err);
}

/* A name may stand for a policy, an order and a placement at once (random): all are shown. */
static int show(const char *name)
{
    char knows[80];
    bool found = false;
    const struct policy_ops *policy = policy_find(name);
    if (policy != NULL) {
        found = true;
        printf("policy %s\n  %s\n\nsource:   %s\nknows:    %s\npreempts: %s\nqueue:    %s\n", policy->name, policy->summary,
               policy->source, knows_text(policy->knows, knows, sizeof knows), policy_preempts(policy) ? "yes" : "no",
               policy->scope == SCOPE_VC ? "one instance a virtual cluster" : "one instance over all virtual clusters");
        show_params(policy->params, policy->n_params);
    }
    const struct order_ops *order = order_find(name);
    if (order != NULL) {
        printf("%sorder %s\n  %s\n\nsource: %s\nknows:  %s\n", found ? "\n" : "", order->name, order->summary, order->source,
               knows_text(order->knows, knows, sizeof knows));
        found = true;
    }
    const struct placement_ops *placement = placement_find(name);
    if (placement != NULL) {
        printf("%splacement %s\n  %s\n\nsource: %s\nrule:   %s\n", found ? "\n" : "", placement->name, placement->summary,
               placement->source,
               placement->rule == PLACEMENT_PACKED ? "packed (one node where that is enough, else whole nodes and one rest)"
                                                   : "pool (any free GPUs)");
        show_params(placement->params, placement->n_params);
        found = true;
    }
    return found ? cli_finish() : show_unknown(name);
}

int cmd_policy(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return help();
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        return list();
    if (argc == 3 && strcmp(argv[1], "show") == 0)
        return show(argv[2]);
    return cli_usage("policy", argc < 2 ? "say list, or show NAME" : "expected list, or show NAME");
}
