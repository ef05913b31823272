/* braid policy: what policies, parts and placements there are, and what each takes. */
#include "base/names.h"
#include "cli/cli.h"
#include "cli/policy_docs.h"
#include "cluster/placement.h"
#include "policies/order.h"
#include "policies/registry.h"

#include <stdio.h>
#include <string.h>

static int help(void)
{
    puts("usage: braid policy list          the policies, the parts they are made of, and the placements\n"
         "       braid policy show NAME     one of them: what it does, what it knows, its parameters\n"
         "       braid policy docs          all of it as a page (docs/policies.md)\n\n"
         "In a config: policy: NAME, {name: NAME, PARAMETER: VALUE}, {order: .., fill: .., preempt: ..} or {plugin: FILE.so}.");
    return cli_finish();
}

static int width_of_names(void)
{
    size_t most = strlen("POLICY");
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++)
        most = strlen((*p)->name) > most ? strlen((*p)->name) : most;
    return (int)most;
}

static int list(void)
{
    char knows[80];
    int width = width_of_names();
    printf("%-*s  %-18s  %-8s  %-7s  %s\n", width, "POLICY", "KNOWS", "PREEMPTS", "QUEUE", "WHAT IT DOES [SOURCE]");
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++)
        printf("%-*s  %-18s  %-8s  %-7s  %s [%s]\n", width, (*p)->name, policy_knows_text((*p)->knows, knows, sizeof knows),
               policy_preempts(*p) ? "yes" : "no", (*p)->scope == SCOPE_VC ? "each VC" : "one", (*p)->summary, (*p)->source);
    printf("\nParts of a composition {order: .., fill: .., preempt: ..}\n");
    for (const struct order_ops *const *o = order_list(); *o != NULL; o++)
        printf("  order    %-*s  %-18s  %s [%s]\n", width, (*o)->name, policy_knows_text((*o)->knows, knows, sizeof knows), (*o)->summary,
               (*o)->source);
    const struct policy_ops *compose = policy_find("compose");
    for (size_t i = 0; i < compose->n_params; i++)
        if (compose->params[i].type == PARAM_CHOICE && strcmp(compose->params[i].name, "order") != 0)
            printf("  %-8s %-*s  %s\n", compose->params[i].name, width + 20, compose->params[i].choices, compose->params[i].help);
    printf("\nPlacements\n");
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++)
        printf("  %-20s  %s [%s]\n", (*p)->name, (*p)->summary, (*p)->source);
    return cli_finish();
}

static void show_params(const struct param_spec *params, size_t n)
{
    char range[512];
    printf("\nparameters%s\n", n == 0 ? ": none" : "");
    for (size_t i = 0; i < n; i++) {
        param_range_text(&params[i], range, sizeof range);
        printf("  %s: %s%s%s", params[i].name, param_type_text(params[i].type), range[0] == '\0' ? "" : range[0] == '(' ? " " : ", ", range);
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
               policy->source, policy_knows_text(policy->knows, knows, sizeof knows), policy_preempts(policy) ? "yes" : "no",
               policy->scope == SCOPE_VC ? "one instance a virtual cluster" : "one instance over all virtual clusters");
        show_params(policy->params, policy->n_params);
    }
    const struct order_ops *order = order_find(name);
    if (order != NULL) {
        printf("%sorder %s\n  %s\n\nsource: %s\nknows:  %s\n", found ? "\n" : "", order->name, order->summary, order->source,
               policy_knows_text(order->knows, knows, sizeof knows));
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
    if (argc == 2 && strcmp(argv[1], "docs") == 0) {
        policy_write_docs(stdout);
        return cli_finish();
    }
    if (argc == 3 && strcmp(argv[1], "show") == 0)
        return show(argv[2]);
    return cli_usage("policy", argc < 2 ? "say list, docs, or show NAME" : "expected list, docs, or show NAME");
}
