/* The Python lines of README.md, run as they stand (but for the path) against a results file. */
#include "fixture_results.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "/usr/bin/python3"

static char dir[256];

static void setup(void)
{
    cr_assert(fixture_make_dir(dir, sizeof dir) != NULL);
}

static void teardown(void)
{
    fixture_remove_dir(dir);
}

TestSuite(report_h5py, .init = setup, .fini = teardown);

/* The first ```python block of a page; every path that ends in .h5" becomes `results`. Returns its number of lines. */
static int extract_example(const char *page, const char *to, const char *results)
{
    FILE *readme = fopen(page, "r"), *script = fopen(to, "w");
    cr_assert(readme != NULL, "%s is not here; tests run from the root of the sources", page);
    cr_assert(script != NULL);
    char line[1000];
    bool is_inside = false;
    int n = 0;
    while (fgets(line, sizeof line, readme) != NULL) {
        if (is_inside && strncmp(line, "```", 3) == 0)
            break;
        if (is_inside) {
            char *end = strstr(line, ".h5\""), *begin = end;
            while (begin != NULL && begin > line && *begin != '"')
                begin--;
            if (begin != NULL && *begin == '"')
                fprintf(script, "%.*s\"%s\"%s", (int)(begin - line), line, results, end + 4);
            else
                fputs(line, script);
            n++;
        }
        is_inside = is_inside || strncmp(line, "```python", 9) == 0;
    }
    fclose(readme);
    fclose(script);
    return n;
}

Test(report_h5py, readme_lines_read_every_table_into_columns_with_units)
{
    if (system(PYTHON " -c 'import h5py' 2>/dev/null") != 0)
        cr_skip_test(PYTHON " has no h5py (apt-get install python3-h5py)");
    char results[300], script[300], command[700], out[8000];
    snprintf(results, sizeof results, "%s/out.h5", dir);
    snprintf(script, sizeof script, "%s/example.py", dir);
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "0a", "fifo", 1);
    fixture_job(&f, "x", 1, 0, 3, 1237);
    fixture_run(&f, "0b", "srtf", 1);
    fixture_job(&f, "x", 1, 0, 0, 1234);
    cr_assert(fixture_write(&f, results));
    fixture_fini(&f);
    int n = extract_example("README.md", script, results);
    cr_assert(n > 0, "README.md has no ```python block");
    cr_expect(n <= 5, "README promises five lines, there are %d", n);
    snprintf(command, sizeof command, PYTHON " %s 2>&1", script);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe != NULL);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    cr_expect_eq(pclose(pipe), 0, "%s", out);
    const char *words[] = {"fifo", "srtf", "1237", "1234", "s"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cr_expect(strstr(out, words[i]) != NULL, "'%s' is not in: %s", words[i], out);
}

/* docs/schema.md: text is text and codes are words, with h5py alone. */
Test(report_h5py, schema_page_reads_text_and_codes_as_words)
{
    if (system(PYTHON " -c 'import h5py' 2>/dev/null") != 0)
        cr_skip_test(PYTHON " has no h5py (apt-get install python3-h5py)");
    char results[300], script[300], command[700], out[8000];
    snprintf(results, sizeof results, "%s/out.h5", dir);
    snprintf(script, sizeof script, "%s/columns.py", dir);
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "0a", "fifo é", 1);
    fixture_job(&f, "x", 1, 0, 3, 1237);
    fixture_job(&f, "yy", 99, 0, -1, 0);
    cr_assert(fixture_write(&f, results));
    fixture_fini(&f);
    cr_assert(extract_example("docs/schema.md", script, results) > 5, "docs/schema.md has no ```python block");
    FILE *more = fopen(script, "a");
    fprintf(more, "r, j = columns('%s', 'runs'), columns('%s', 'jobs')\n", results, results);
    fputs("print(list(r['label']), list(map(str, r['status'])), list(j['id']), list(map(str, j['status'])), "
          "list(map(float, j['end'])))\n",
          more);
    fclose(more);
    snprintf(command, sizeof command, "PYTHONIOENCODING=utf-8 " PYTHON " %s 2>&1", script);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe != NULL);
    out[fread(out, 1, sizeof out - 1, pipe)] = '\0';
    cr_expect_eq(pclose(pipe), 0, "%s", out);
    cr_expect_str_eq(out, "['fifo é'] ['ok'] ['x', 'yy'] ['finished', 'rejected'] [1237.0, 0.0]\n", "%s", out);
}

Test(report_h5py, every_column_of_every_table_has_units_and_equal_length)
{
    if (system(PYTHON " -c 'import h5py' 2>/dev/null") != 0)
        cr_skip_test(PYTHON " has no h5py (apt-get install python3-h5py)");
    char results[300], script[300], command[700];
    snprintf(results, sizeof results, "%s/out.h5", dir);
    snprintf(script, sizeof script, "%s/check.py", dir);
    struct fixture f;
    fixture_init(&f);
    fixture_run(&f, "0a", "fifo", 1);
    fixture_job(&f, "x", 1, 0, 3, 1237);
    fixture_segment(&f, 0, 3, 1237, "run", 0, 0, 1);
    cr_assert(fixture_write(&f, results));
    fixture_fini(&f);
    FILE *py = fopen(script, "w");
    fprintf(py,
            "import h5py\n"
            "with h5py.File('%s') as f:\n"
            "    assert f.attrs['schema'] == 1\n"
            "    for table in f.values():\n"
            "        assert len({c.shape for c in table.values()}) == 1\n"
            "        assert all('units' in c.attrs for c in table.values())\n"
            "    assert h5py.check_enum_dtype(f['jobs/status'].dtype)['finished'] == 0\n"
            "    assert f['jobs/id'].asstr()[0] == 'x' and f['jobs/jct'][0] == 1237\n",
            results);
    fclose(py);
    snprintf(command, sizeof command, PYTHON " %s", script);
    cr_expect_eq(system(command), 0);
}
