/* outcome_remarks.c - what should be said of a run that went well, and that its numbers do not say. */
#include "experiment/outcome.h"

#include "experiment/survey.h"

/* It was ended by stop.queue: its means are those of a queue that was still growing. */
static void remark_overload(struct outcome *o)
{
    const struct run_totals *t = &o->result.totals;
    if (!t->is_overloaded)
        return;
    remarks_add(&o->remarks, "overloaded", o->config->index,
                "ended as overloaded at %.0f s: more than %u jobs waited (stop.queue); its means are over the jobs "
                "that had ended by then",
                (double)t->stop_ns * 1e-9, o->config->stop.queue);
}

bool outcome_remark(struct outcome *o)
{
    remark_overload(o);
    survey_run(&o->remarks, o->config, o->output.workload, &o->result);
    o->remarks_text = remarks_text(&o->remarks);
    return o->remarks_text != NULL && !o->remarks.is_short;
}
