/* trace.profiles, model.interleave.kinds and model.profile_error in configs. */
#include "config_fixture.h"

#define NL "\n"

Test(config_interleave, kinds_are_joined_in_order)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(
        fixture_load(&f, "trace: t.csv" NL "model: {interleave: {kinds: [storage+cpu, gpu, network]}}" NL, NULL), 0,
        "%s", f.err.message);
    const struct sharing_spec *s = &f.x.runs[0].sharing;
    cr_expect_eq(s->n_kinds, 3);
    cr_expect(s->kind[0] == 0 && s->kind[1] == 0 && s->kind[2] == 1 && s->kind[3] == 2);
    cr_expect_not_null(strstr(f.x.runs[0].yaml, "kinds: [storage+cpu, gpu, network]"));
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, "trace: t.csv" NL, NULL), 0);
    cr_expect_eq(f.x.runs[0].sharing.n_kinds, 4);
    cr_expect_eq(f.x.runs[0].sharing.kind[3], 3);
    cr_expect_eq(f.x.runs[0].profile_error, 0);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(config_interleave, profiles_are_filled_and_swept)
{
    struct fixture f;
    fixture_init(&f);
    fixture_write(&f, "p.yaml", "x", 1);
    cr_assert_eq(fixture_load(&f,
                              "trace: {generate: {}, profiles: {table: p.yaml, jobs: drawn}}" NL
                              "model: {profile_error: 0.1}" NL
                              "sweep: {seed: [5, 6], trace.profiles.mix: [[1, 0, 0, 0], [1, 1, 1, 1]]}" NL,
                              NULL),
                 0, "%s", f.err.message);
    cr_assert_eq(f.x.n_runs, 4);
    const struct stages_spec *s = &f.x.runs[0].trace.stages;
    cr_expect_str_eq(s->table_shown, "p.yaml");
    cr_expect_eq(s->jobs, STAGES_DRAWN);
    cr_expect_eq(s->seed, 5);
    cr_expect_eq(s->mix.n, 4);
    cr_expect(s->mix.v[0] == 1 && s->mix.v[1] == 0);
    cr_expect_eq(f.x.runs[3].trace.stages.seed, 6);
    cr_expect_eq(f.x.runs[0].profile_error, 0.1);
    /* another mix or seed is another workload */
    for (uint32_t i = 1; i < 4; i++)
        cr_expect_str_neq(f.x.runs[0].trace_key, f.x.runs[i].trace_key);
    fixture_unload(&f);
    cr_assert_eq(fixture_load(&f, "trace: {generate: {}}" NL, NULL), 0);
    cr_expect_null(f.x.runs[0].trace.stages.table);
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(config_interleave, what_is_wrong_is_named)
{
    static const struct bad_config cases[] = {
        {"trace: t.csv" NL "model: {interleave: {kinds: []}}" NL,
         "c.yaml:2:29: 'model.interleave.kinds' wants a list such as [storage+cpu, gpu, network]"},
        {"trace: t.csv" NL "model: {interleave: {kinds: gpu}}" NL,
         "c.yaml:2:29: 'model.interleave.kinds' wants a list..."},
        {"trace: t.csv" NL "model: {interleave: {kinds: [storage, disk]}}" NL,
         "c.yaml:2:39: 'disk' is no kind of resource; there are storage, cpu, gpu and network"},
        {"trace: t.csv" NL "model: {interleave: {kinds: [storage, cpu, gpu]}}" NL,
         "c.yaml:2:29: 'model.interleave.kinds' lacks network; join it to another with '+'"},
        {"trace: t.csv" NL "model: {interleave: {kinds: [storage, gpu, cpu, network]}}" NL,
         "c.yaml:2:39: 'model.interleave.kinds' must name storage, cpu, gpu and network once each and in this order; "
         "here cpu should "
         "come"},
        {"trace: t.csv" NL "model: {interleave: {kinds: [storage+cpu+gpu+network, gpu]}}" NL,
         "c.yaml:2:55: 'model.interleave.kinds' must name storage, cpu, gpu and network once each and in this order; "
         "here nothing more "
         "should come"},
        {"trace: t.csv" NL "model: {interleave: {kinds: [storage+, cpu]}}" NL,
         "c.yaml:2:30: '' is no kind of resource..."},
        {"trace: t.csv" NL "model: {profile_error: 1}" NL,
         "c.yaml:2:24: 'model.profile_error' is 1, but must be from 0 to 0.99"},
        {"trace: {path: t.csv, profiles: {jobs: all}}" NL, "c.yaml:1:32: 'trace.profiles.table' is missing..."},
        {"trace: {path: t.csv, profiles: {table: absent.yaml}}" NL, "c.yaml:1:40: cannot open 'absent.yaml'..."},
        {"trace: {path: t.csv, profiles: {table: c.yaml, jobs: some}}" NL, "c.yaml:1:54: ..."},
        {"trace: {path: t.csv, profiles: {table: c.yaml, mix: [1, 2]}}" NL,
         "c.yaml:1:53: 'trace.profiles.mix' wants four weights: of storage, CPU, GPU and network, not 2"},
        {"trace: {path: t.csv, profiles: {table: c.yaml, mix: [0, 0, 0, 0]}}" NL,
         "c.yaml:1:53: 'trace.profiles.mix': every weight is 0, so that none can be drawn"},
        {"trace: {path: t.csv, profiles: {table: c.yaml, mix: [-1, 1, 1, 1]}}" NL, "c.yaml:1:54: ..."},
    };
    EXPECT_BAD(cases);
}
