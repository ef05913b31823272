/* The column `depends`: what it means, what is refused with its line, and that it survives cutting, writing and sampling. */
#include "traces/depends.h"
#include "traces/sample.h"
#include "traces/scratch.h"
#include "traces/writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct scratch scratch;
static struct workload w;
static struct error err;

static void before(void)
{
    scratch_init(&scratch);
    workload_init(&w);
    err = (struct error){0};
}

static void after(void)
{
    workload_fini(&w);
    scratch_fini(&scratch);
}

TestSuite(depends, .init = before, .fini = after);

static void load(const char *text)
{
    workload_fini(&w);
    cr_assert_eq(scratch_load_text(&scratch, text, &w, &err), BRAID_OK, "%s", err.message);
}

static const char *text_of(const struct workload *x, uint32_t job)
{
    return x->depends == NULL ? "" : names_text(&x->depends_texts, x->depends[job]);
}

static const char header[] = "id,submit,duration,gpus,depends\n";

static const char *with_header(const char *rows)
{
    static char text[2048];
    snprintf(text, sizeof text, "%s%s", header, rows);
    return text;
}

static void expect_refused(const char *rows, int line, const char *says)
{
    workload_fini(&w);
    err = (struct error){0};
    cr_expect_eq(scratch_load_text(&scratch, with_header(rows), &w, &err), BRAID_BAD_INPUT);
    cr_expect_eq(err.line, line, "line %d: %s", err.line, err.message);
    cr_expect_not_null(strstr(err.message, says), "%s", err.message);
}

Test(depends, ids_are_separated_by_semicolons_or_blanks_in_any_number)
{
    load(with_header("a,0,1,1,\nb,1,1,1,a\nc,2,1,1, a ; b \nd,3,1,1,\"a b;;c\"\n"));
    struct depends d;
    cr_assert(depends_build(&d, &w));
    static const uint32_t first[] = {0, 0, 1, 3, 6}, on[] = {0, 0, 1, 0, 1, 2};
    cr_expect_arr_eq(d.first, first, sizeof first);
    cr_expect_arr_eq(d.on, on, sizeof on);
    uint32_t order[4];
    cr_expect_eq(depends_order(&d, 4, order), 4u);
    for (uint32_t j = 0; j < 4; j++)
        cr_expect_eq(order[j], j);
    depends_fini(&d);
    cr_expect_str_eq(text_of(&w, 3), "a;b;c");
}

Test(depends, unknown_ids_and_circles_are_errors_with_their_line)
{
    expect_refused("a,0,1,1,\nb,1,1,1,a\nc,2,1,1,a;x\n", 4, "depends on 'x'");
    expect_refused("a,0,1,1,\nb,1,1,1,b\n", 3, "'b' depends on itself");
    expect_refused("a,0,1,1,c\nb,1,1,1,a\nc,2,1,1,b\n", 2, "depends on itself");
    expect_refused("a,0,1,0,\nb,1,1,1,a\n", 3, "its row was dropped");
}

Test(depends, of_several_jobs_of_an_id_the_nearest_earlier_one_is_meant)
{
    load(with_header("a,0,1,1,\nb,1,1,1,a\na,2,1,1,\nc,3,1,1,a\nd,4,1,1,e\ne,5,1,1,\ne,6,1,1,e\n"));
    struct depends d;
    cr_assert(depends_build(&d, &w));
    cr_expect_eq(d.on[d.first[1]], 0u);
    cr_expect_eq(d.on[d.first[3]], 2u);
    cr_expect_eq(d.on[d.first[4]], 5u, "the first later one");
    cr_expect_eq(d.on[d.first[6]], 5u, "not itself");
    depends_fini(&d);
}

Test(depends, on_jobs_that_were_cut_away_do_not_count)
{
    char path[SCRATCH_PATH];
    const char *text = with_header("a,0,1,1,\nb,10,1,1,a\nc,20,1,1,a;b\n");
    scratch_write(&scratch, "cut.csv", text, strlen(text), path);
    struct trace_spec spec = scratch_spec(path);
    spec.has_begin = spec.window_is_relative = true;
    spec.begin_ns = INT64_C(5000000000);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(w.n_jobs, 2u);
    cr_expect_str_eq(text_of(&w, 0), "");
    cr_expect_str_eq(text_of(&w, 1), "b");
    workload_fini(&w);
    spec.has_begin = false;
    spec.jobs = 1;
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_expect_null(w.depends, "a column that says nothing is none");
}

Test(depends, survive_writing_and_count_in_the_digest)
{
    char path[SCRATCH_PATH];
    load(with_header("a,0,1,1,\nb,1,1,1,a\nc,2,1,1,b a\n"));
    uint8_t digest[DIGEST_BYTES];
    memcpy(digest, w.digest, sizeof digest);
    cr_assert_eq(trace_write(&w, scratch_path(&scratch, "out.csv", path), &err), BRAID_OK);
    struct trace_spec spec = scratch_spec(path);
    workload_fini(&w);
    cr_assert_eq(trace_load(&w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_expect_eq(memcmp(digest, w.digest, sizeof digest), 0);
    cr_expect_str_eq(text_of(&w, 2), "b;a");
    load(with_header("a,0,1,1,\nb,1,1,1,a\nc,2,1,1,b\n"));
    cr_expect_neq(memcmp(digest, w.digest, sizeof digest), 0);
    load(with_header("a,0,1,1,\nb,1,1,1,\nc,2,1,1,\n")); /* an empty column is no column */
    memcpy(digest, w.digest, sizeof digest);
    load("id,submit,duration,gpus\na,0,1,1\nb,1,1,1\nc,2,1,1\n");
    cr_expect_eq(memcmp(digest, w.digest, sizeof digest), 0);
}

Test(depends, survive_sampling_as_far_as_their_jobs_do)
{
    load("id,submit,duration,gpus,vc,depends\na,0,1,1,x,\nb,1,1,1,y,a\nc,2,1,1,y,a;b\n");
    struct workload out;
    static const char *const vcs[] = {"y"};
    struct sample_spec spec = {.vcs = vcs, .n_vcs = 1};
    cr_assert_eq(trace_sample(&out, &w, &spec, &err), BRAID_OK, "%s", err.message);
    cr_assert_eq(out.n_jobs, 2u);
    cr_expect_str_eq(text_of(&out, 0), "");
    cr_expect_str_eq(text_of(&out, 1), "b");
    workload_fini(&out);
}
