#include "inside.h"

#include <criterion/criterion.h>

/* The first parameter is where the functions are: a policy has no other way to them. */
struct inside_self {
    const struct inside *what;
    _Alignas(max_align_t) char self[];
};

static int inside_init(void *self, struct sched *s, const union param *v, struct error *err)
{
    struct inside_self *p = self;
    (void)err;
    p->what = (const struct inside *)v[0].s;
    p->what->begin(p->self, s);
    return BRAID_OK;
}

static void inside_round(void *self, struct sched *s)
{
    struct inside_self *p = self;
    if (p->what->round != NULL)
        p->what->round(p->self, s);
}

static void inside_fini(void *self)
{
    struct inside_self *p = self;
    if (p->what != NULL && p->what->end != NULL)
        p->what->end(p->self);
}

void inside_run(struct test_case *c, const struct inside *what)
{
    static const struct param_spec where[] = {{.name = "what", .type = PARAM_TEXT, .def = "", .unit = "", .help = ""}};
    const struct policy_ops ops = {.abi_version = BRAID_POLICY_ABI,
                                   .size = sizeof ops,
                                   .name = "inside",
                                   .summary = "",
                                   .source = "",
                                   .knows = what->knows,
                                   .scope = what->scope,
                                   .params = where,
                                   .n_params = 1,
                                   .state_size = sizeof(struct inside_self) + what->size,
                                   .init = inside_init,
                                   .fini = inside_fini,
                                   .schedule = inside_round};
    c->params[0].s = (const char *)what;
    c->spec.policy = (struct policy_spec){.ops = &ops, .label = "inside", .params = c->params};
    case_run(c);
}
