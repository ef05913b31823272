/* What is no config at all, or no YAML that a config may be. */
#include "experiment/config_fixture.h"
#include "base/config_text.h"

#include <sys/stat.h>
#include <time.h>

Test(config_yaml, what_is_no_map_is_refused)
{
    static const struct bad_config cases[] = {
        {"", "c.yaml: the config is empty; it needs at least 'trace: PATH'"},
        {"# nothing\n", "c.yaml: the config is empty; it needs at least 'trace: PATH'"},
        {"--- \n", "c.yaml:2:1: a config is a map of keys, such as 'trace: PATH'"},
        {"hello", "c.yaml:1:1: a config is a map of keys, such as 'trace: PATH'"},
        {"[]", "c.yaml:1:1: a config is a map of keys, such as 'trace: PATH'"},
        {"trace: x\n---\ntrace: y\n", "c.yaml:2:1: a second YAML document begins here; a config is one document"},
    };
    EXPECT_BAD(cases);
}

Test(config_yaml, repeated_keys_name_both_lines)
{
    static const struct bad_config cases[] = {
        {"trace: a\nseed: 1\ntrace: b\n", "c.yaml:3:1: key 'trace' is repeated; it stands in line 1 already"},
        {"trace: a\nstop:\n  at: 1 s\n  queue: 3\n  \"at\": 2 s\n",
         "c.yaml:5:3: key 'at' is repeated; it stands in line 3 already"},
        {"trace: a\ncluster:\n  vcs:\n    010: {nodes: 1}\n    010: {nodes: 2}\n",
         "c.yaml:5:5: key '010' is repeated; it stands in line 4 already"},
    };
    EXPECT_BAD(cases);
}

Test(config_yaml, aliases_cannot_loop_or_dangle)
{
    static const struct bad_config cases[] = {
        {"trace: &a {path: *a}\n",
         "c.yaml:1:18: alias '*a' stands inside the value that '&a' names (line 1): it would contain itself"},
        {"trace: &a\n  - [*a]\n",
         "c.yaml:2:6: alias '*a' stands inside the value that '&a' names (line 1): it would contain itself"},
        {"trace: *b\n", "c.yaml:1:8: alias '*b' names no anchor; '&b' must stand before it"},
        {"trace: x\n*b : y\n", "c.yaml:2:1: an alias ('*b') cannot be a key; write the key out"},
        {"trace: {<<: {path: x}}\n",
         "c.yaml:1:9: merge keys ('<<') are not supported; write the keys out, or use an alias "
         "for a whole value"},
        {"trace: !!str x\n", "c.yaml:1:8: a YAML tag ('tag:yaml.org,2002:str') has no place in a config; leave it out"},
    };
    EXPECT_BAD(cases);
}

Test(config_yaml, alias_bombs_are_refused_at_once)
{
    struct config_text t;
    struct fixture f;
    char error[1200];
    struct timespec begin, end;
    config_text_init(&t);
    config_text_put(&t, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 60; i++)
        config_text_format(&t, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1,
                           i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    fixture_init(&f);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    cr_expect_eq(fixture_load(&f, t.s, NULL), BRAID_BAD_INPUT);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    cr_expect_lt(end.tv_sec - begin.tv_sec, 1);
    cr_expect_str_eq(
        fixture_error(&f, error, sizeof error),
        "c.yaml:6:15: the config grows past 100000 values here when its aliases are expanded; make it smaller");
    config_text_clear(&t);
    config_text_put(&t, "trace: &a0 [x]\n");
    for (int i = 1; i < 80; i++) /* ever deeper, without growing much */
        config_text_format(&t, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    cr_expect_eq(fixture_load(&f, t.s, NULL), BRAID_BAD_INPUT);
    cr_expect_str_eq(fixture_error(&f, error, sizeof error),
                     "c.yaml:63:12: nested deeper than 64 levels when alias '*a61' is expanded");
    config_text_fini(&t);
    fixture_fini(&f);
}

Test(config_yaml, depth_and_size_are_bounded)
{
    struct config_text t;
    struct fixture f;
    char error[1200];
    config_text_init(&t);
    fixture_init(&f);
    config_text_put(&t, "trace: ");
    for (int i = 0; i < 100000; i++)
        config_text_put(&t, "[");
    cr_expect_eq(fixture_load(&f, t.s, NULL), BRAID_BAD_INPUT);
    cr_expect_str_eq(fixture_error(&f, error, sizeof error), "c.yaml:1:71: nested deeper than 64 levels");
    config_text_clear(&t);
    config_text_put(&t, "trace: [");
    for (int i = 0; i < 100000; i++)
        config_text_put(&t, "a,");
    config_text_put(&t, "a]");
    cr_expect_eq(fixture_load(&f, t.s, NULL), BRAID_BAD_INPUT);
    cr_expect_str_eq(fixture_error(&f, error, sizeof error),
                     "c.yaml:1:200005: the config grows past 100000 values here; make it smaller");
    config_text_clear(&t);
    while (t.n <= (16u << 20))
        config_text_put(
            &t, "# a comment that says little but says it long ..............................................\n");
    cr_expect_eq(fixture_load(&f, t.s, NULL), BRAID_BAD_INPUT);
    cr_expect_str_eq(fixture_error(&f, error, sizeof error),
                     "c.yaml: is larger than 16 MiB, which no config is; is it the right file?");
    config_text_fini(&t);
    fixture_fini(&f);
}

Test(config_yaml, broken_yaml_is_named_with_its_place)
{
    static const struct bad_config cases[] = {
        {"trace:\n\tpath: x\n", "c.yaml:2:1: a tab character cannot stand here; indent with spaces"},
        {"trace: {path: x\nseed: 1\n",
         "c.yaml:2:5: not valid YAML: did not find expected ',' or '}' (while parsing a flow "
         "mapping that begins in line 1)"},
        {"trace: x\n  load: 3\n", "c.yaml:2:7: not valid YAML: mapping values are not allowed in this context"},
        {"? [a]\n: b\n", "c.yaml:1:3: a key must be a text, not a list"},
        {"{a: b}: c\n", "c.yaml:1:1: a key must be a text, not a map"},
        {"trace: x\nname: \xff\n", "c.yaml:2:7: byte 0xff is not UTF-8; store the file as UTF-8"},
        {"trace: x\nname: \xc0\xaf\n", "c.yaml:2:7: byte 0xc0 is not UTF-8; store the file as UTF-8"},
        {"trace: x\nname: \xed\xa0\x80\n", "c.yaml:2:7: byte 0xed is not UTF-8; store the file as UTF-8"},
        {"trace: x\nname: \xe4\xbd", "c.yaml:2:7: byte 0xe4 is not UTF-8; store the file as UTF-8"},
        {"trace: x\nname: a\x01\n", "c.yaml:2:8: character U+0001 is not text; remove it"},
        {"trace: x\nname: \"a\\0b\"\n", "c.yaml:2:7: a NUL character in a text"},
        {"\xff\xfet", "c.yaml:1:1: the file is UTF-16; store it as UTF-8"},
    };
    EXPECT_BAD(cases);
}

Test(config_yaml, files_that_cannot_be_read_are_named)
{
    struct fixture f;
    struct experiment x;
    struct error err;
    char path[512];
    fixture_init(&f);
    cr_expect_eq(experiment_load(&x, f.folder, NULL, 0, &err), BRAID_BAD_INPUT);
    cr_expect_str_eq(err.message, "is a folder; name a config file in it");
    snprintf(path, sizeof path, "%s/none.yaml", f.folder);
    cr_expect_eq(experiment_load(&x, path, NULL, 0, &err), BRAID_BAD_INPUT);
    cr_expect_str_eq(err.message, "cannot open the config: No such file or directory");
    cr_expect_str_eq(err.file, path);
    cr_expect_eq(experiment_load(&x, path, NULL, 0, NULL), BRAID_BAD_INPUT); /* a caller who does not want to know */
    fixture_fini(&f);
}

Test(config_yaml, byte_order_mark_and_crlf_are_no_matter)
{
    struct fixture f;
    fixture_init(&f);
    cr_expect_eq(fixture_load(&f, "\xef\xbb\xbftrace: x.csv\r\nseed: 5\r\n", NULL), BRAID_OK, "%s", f.err.message);
    cr_expect_eq(f.x.runs[0].seed, 5);
    cr_expect_str_eq(f.x.runs[0].trace.shown_path, "x.csv");
    fixture_unload(&f);
    fixture_fini(&f);
}

Test(config_yaml, anchors_share_values)
{
    struct fixture f;
    fixture_init(&f);
    cr_assert_eq(fixture_load(&f,
                              "trace: x.csv\n"
                              "model: {start_overhead: &o {by_gpus: {1: 7 s, 8: 30 s}}, restart_overhead: *o}\n",
                              NULL),
                 BRAID_OK, "%s", f.err.message);
    cr_expect_eq(f.x.runs[0].overhead.restart.n_rows, 2);
    cr_expect_eq(f.x.runs[0].overhead.restart.rows[1].ns, 30000000000);
    fixture_unload(&f);
    fixture_fini(&f);
}
