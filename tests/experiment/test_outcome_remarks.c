/* What a run says of itself on stderr, and keeps in its file. */
#include "experiment/config_fixture.h"
#include "experiment/execute.h"

#include <stdlib.h>
#include <string.h>

/* 0-100 and, behind it, 100-200; the record has the second one start at 130: the cluster as described was free before. */
static const char recorded[] = "id,submit,duration,gpus,start\na,0,100,8,0\nb,10,100,8,130\n";
static const char crowded[] = "id,submit,duration,gpus,start\na,0,100,8,0\nb,10,100,8,40\n"; /* 40: no room until 100 */
static const char days[] = "id,submit,duration,gpus,start\na,0,100,8,0\nb,86400,100,8,86400\nc,172900,1,8,172900\n";
static const char calm[] = "id,submit,duration,gpus\na,0,100,8\nb,500,100,8\n";

static const struct {
    const char *name, *trace, *config;
    const char *said, *unsaid;
} cases[] = {
    {"as recorded", recorded, "policy: recorded\n",
     "100.0 % of the 2 jobs with a recorded start begin within 1 s of it; mean wait 60 s, recorded 60 s\n",
     "no job ever waited"},
    {"no room", crowded, "policy: recorded\n",
     "50.0 % of the 2 jobs with a recorded start begin within 1 s of it; mean wait 45 s, recorded 15 s; where they "
     "part",
     NULL},
    {"another policy", recorded, "policy: fifo\n", "", "recorded start"},
    {"the rate of the record", recorded, "policy: recorded\ntrace: {path: t.csv, scale: 1}\n", "100.0 % of the 2 jobs",
     "mean nothing"},
    {"another rate", recorded, "policy: recorded\ntrace: {path: t.csv, scale: 2}\n",
     "recorded starts mean nothing here, since trace.scale changes when jobs come: policy recorded repeats", "% of"},
    {"another load", days, "policy: recorded\ntrace: {path: t.csv, load: 0.5}\n",
     "recorded starts mean nothing here, since trace.load changes when jobs come", "% of"},
    {"a bootstrap", days, "policy: recorded\ntrace: {path: t.csv, bootstrap: {days: any}}\n",
     "recorded starts mean nothing here, since trace.bootstrap draws its days anew", "% of"},
    {"a bootstrap of another policy", days, "policy: fifo\ntrace: {path: t.csv, bootstrap: {days: any}}\n", "",
     "recorded starts"},
    {"nobody waits", calm, "policy: las\n", "no job ever waited", NULL},
    {"somebody waits", recorded, "policy: las\n", "", "no job ever waited"},
    {"overload", recorded, "policy: fifo\nstop: {queue: 0}\n", "ended as overloaded at 10 s: more than 0 jobs waited",
     NULL},
};

Test(outcome_remarks, are_made_when_they_are_true)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct remarks remarks = {0};
        struct execute_report report;
        char yaml[400], output[600], *text;
        size_t n;
        fixture_init(&f);
        fixture_write(&f, "t.csv", cases[i].trace, strlen(cases[i].trace));
        snprintf(yaml, sizeof yaml, "%scluster: {nodes: [{count: 1, gpus: 8}]}\n%s",
                 strstr(cases[i].config, "trace:") == NULL ? "trace: t.csv\n" : "", cases[i].config);
        cr_assert_eq(fixture_load(&f, yaml, NULL), BRAID_OK, "%s: %s", cases[i].name, f.err.message);
        snprintf(output, sizeof output, "%s/out.h5", f.folder);
        const struct execute_options o = {.output = output, .threads = 1, .remarks = &remarks};
        cr_assert_eq(experiment_execute(&f.x, &o, &report, &f.err), BRAID_OK, "%s: %s", cases[i].name, f.err.message);
        FILE *out = open_memstream(&text, &n);
        remarks_write(&remarks, &f.x, out);
        fclose(out);
        cr_expect_not_null(strstr(text, cases[i].said), "%s: %s", cases[i].name, text);
        cr_expect(cases[i].unsaid == NULL || strstr(text, cases[i].unsaid) == NULL, "%s: %s", cases[i].name, text);
        free(text);
        remarks_fini(&remarks);
        experiment_fini(&f.x);
        fixture_fini(&f);
    }
}
