/* Overheads of starts by GPUs and model. */
#include "base/number.h"
#include "experiment/config_fixture.h"

/* The table in ../../sim/model/overhead.h's words, small enough to read off by hand. */
static const char table[] = "model, gpus ,overhead\n"
                            "other,1,10\n"
                            "bert,8,40\n"
                            "bert,2,20.5\n"
                            "\n"
                            "other,16,60\n"
                            "\"dqn, small\",1,0\n";

Test(overhead, table_is_looked_up_by_gpus_and_model)
{
    static const struct {
        uint32_t gpus;
        const char *model;
        double seconds;
    } cases[] = {
        {1, NULL, 10},     {15, NULL, 10},     {16, NULL, 60},       {100, NULL, 60},
        {1, "bert", 20.5}, {2, "bert", 20.5},  {7, "bert", 20.5},    {8, "bert", 40},
        {64, "bert", 40},  {4, "unknown", 10}, {4, "dqn, small", 0}, {16, "other", 60},
    };
    struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "o.csv", table, strlen(table));
    cr_assert_eq(fixture_load(&f, "trace: x\nmodel: {start_overhead: {table: o.csv}}\n", NULL), BRAID_OK, "%s",
                 f.err.message);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq((double)overhead_ns(&f.x.runs[0].overhead.start, cases[i].gpus, cases[i].model),
                     cases[i].seconds * 1e9, "%u GPUs, %s", cases[i].gpus,
                     cases[i].model != NULL ? cases[i].model : "no model");
    cr_expect_eq(overhead_ns(&f.x.runs[0].overhead.restart, 4, NULL), 0);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(overhead, steps_begin_with_the_smallest)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f, "trace: x\nmodel: {restart_overhead: {by_gpus: {8: 30 s, 2: 7 s}}}\n", NULL),
                 BRAID_OK);
    const struct overhead_rule *rule = &f.x.runs[0].overhead.restart;
    cr_expect_eq(overhead_ns(rule, 1, "any"), 7 * NS_PER_S);
    cr_expect_eq(overhead_ns(rule, 7, NULL), 7 * NS_PER_S);
    cr_expect_eq(overhead_ns(rule, 8, NULL), 30 * NS_PER_S);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(overhead, bad_tables_name_the_line)
{
    static const struct {
        const char *table, *error;
    } cases[] = {
        {"", "o.csv: the table of overheads is empty"},
        {"gpus,seconds\n1,2\n",
         "o.csv:1: a table of overheads begins with a row of column names, among them gpus and overhead (and "
         "perhaps model)"},
        {"gpus,gpus,overhead\n", "o.csv:1: column 'gpus' stands twice"},
        {"gpus,overhead\n0,2\n", "o.csv:2: '0' is no number of GPUs from 1 to 16777216"},
        {"gpus,overhead\n\n1,-2\n", "o.csv:3: '-2' is no overhead in seconds, from 0 to a year"},
        {"gpus,overhead\n1,30 s\n", "o.csv:2: '30 s' is no overhead in seconds, from 0 to a year"},
        {"gpus,overhead\n1\n", "o.csv:2: the row has 1 fields, fewer than the header"},
        {"gpus,overhead\n1,2\n1,3\n", "o.csv: two rows for 1 GPUs and model 'other'; keep one"},
        {"gpus,model,overhead\n1,bert,2\n",
         "o.csv: the table of overheads has no rows for model 'other'; add them for the models that it does not name"},
        {"gpus,overhead\n",
         "o.csv: the table of overheads has no rows for model 'other'; add them for the models that it does not name"},
    };
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char error[1200];
        fixture_write(&f, "o.csv", cases[i].table, strlen(cases[i].table));
        cr_expect_eq(fixture_load(&f, "trace: x\nmodel: {start_overhead: {table: o.csv}}\n", NULL), BRAID_BAD_INPUT);
        cr_expect_str_eq(fixture_error(&f, error, sizeof error), cases[i].error);
    }
    fixture_fini(&f);
}
