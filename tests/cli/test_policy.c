/* braid policy, and the plugin of policies/README.md compiled and run word for word. */
#include "tests/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[65536];

/* What `command` prints (both streams); its exit status. */
static int shell(const char *format, const char *a, const char *b)
{
    char command[8192];
    snprintf(command, sizeof command, format, a, b);
    FILE *f = popen(command, "r");
    cr_assert_not_null(f);
    size_t n = fread(output, 1, sizeof output - 1, f);
    output[n] = '\0';
    return WEXITSTATUS(pclose(f));
}

Test(policy, list_names_every_policy_part_and_placement)
{
    cr_assert_eq(shell("%s policy list 2>&1%s", getenv("BRAID"), ""), 0);
    for (const struct policy_ops *const *p = policy_list(); *p != NULL; p++) {
        char line[64];
        snprintf(line, sizeof line, "\n%s ", (*p)->name);
        const char *at = strstr(output, line);
        cr_expect(at != NULL && strstr(at, (*p)->source) < strchr(at + 1, '\n'), "%s is not listed with its source", (*p)->name);
    }
    for (const struct placement_ops *const *p = placement_list(); *p != NULL; p++)
        cr_expect(strstr(output, (*p)->name) != NULL, "%s is not listed", (*p)->name);
}

Test(policy, show_explains_parameters)
{
    cr_assert_eq(shell("%s policy show %s 2>&1", getenv("BRAID"), "tiresias"), 0);
    cr_expect(strstr(output, "thresholds") != NULL && strstr(output, "3250") != NULL, "%s", output);
    cr_expect(strstr(output, "NSDI'19") != NULL);
    cr_assert_eq(shell("%s policy show %s 2>&1", getenv("BRAID"), "yarn"), 0);
}

Test(policy, an_unknown_name_gets_the_nearest)
{
    cr_assert_eq(shell("%s policy show %s 2>&1", getenv("BRAID"), "tiresas"), 2);
    cr_expect(strstr(output, "did you mean 'tiresias'") != NULL, "%s", output);
    cr_assert_eq(shell("%s policy 2>&1%s", getenv("BRAID"), ""), 2);
}

/* The first fenced block of `language` in policies/README.md. */
static char *readme_block(const char *language)
{
    static char text[32768];
    FILE *f = fopen("policies/README.md", "r");
    cr_assert_not_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    char fence[32];
    snprintf(fence, sizeof fence, "```%s\n", language);
    char *from = strstr(text, fence);
    cr_assert_not_null(from);
    from += strlen(fence);
    char *to = strstr(from, "```");
    cr_assert_not_null(to);
    *to = '\0';
    return from;
}

Test(policy, the_plugin_of_the_readme_compiles_and_runs)
{
    char folder[] = "/tmp/braid-plugin-XXXXXX", path[128], command[4096];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/largest.c", folder);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(readme_block("c"), f);
    fclose(f);
    char root[512];
    cr_assert_not_null(getcwd(root, sizeof root));
    char *cc = readme_block("sh"); /* run in the folder, with the tree's headers where they are */
    char *headers = strstr(cc, "sim/include");
    cr_assert_not_null(headers);
    int before = (int)(headers - cc);
    snprintf(command, sizeof command, "cd %s && %.*s%s/%s", folder, before, cc, root, headers);
    cr_assert_eq(system(command), 0, "%s", command);

    void *library = NULL;
    struct error err = {0};
    snprintf(path, sizeof path, "%s/largest.so", folder);
    const struct policy_ops *ops = policy_load_plugin(path, &library, &err);
    if (ops == NULL && strstr(err.message, "undefined symbol") == NULL)
        cr_assert_fail("%s", err.message);
    /* the test program does not export the verbs; the program does */
    FILE *config;
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    cr_assert_not_null(config = fopen(path, "w"));
    fputs("trace: t.csv\ncluster: {nodes: [{count: 1, gpus: 4}]}\npolicy: {plugin: ./largest.so}\n", config);
    fclose(config);
    snprintf(path, sizeof path, "%s/t.csv", folder);
    cr_assert_not_null(config = fopen(path, "w"));
    fputs("id,submit,duration,gpus\na,0,10,4\nb,1,10,1\nc,2,10,3\nd,3,10,4\n", config);
    fclose(config);
    snprintf(command, sizeof command, "cd %s && '%s' run c.yaml -o r.h5 --check --quiet && '%s' export r.h5 --what jobs", folder,
             getenv("BRAID"), getenv("BRAID"));
    cr_assert_eq(shell("%s 2>&1%s", command, ""), 0, "%s", output);
    /* d, of four GPUs, goes first at 10; then c and b together at 20 */
    cr_expect(strstr(output, ",b,") != NULL, "%s", output);
    double start[4] = {-1, -1, -1, -1};
    char *line = strtok(output, "\n");
    int column_id = -1, column_start = -1;
    for (; line != NULL; line = strtok(NULL, "\n")) {
        char copy[1024], *field = copy, *next;
        snprintf(copy, sizeof copy, "%s", line);
        char id = '\0';
        for (int k = 0; field != NULL; k++, field = next) {
            next = strchr(field, ',');
            if (next != NULL)
                *next++ = '\0';
            if (column_start < 0 || column_id < 0) {
                column_id = strcmp(field, "id") == 0 ? k : column_id;
                column_start = strcmp(field, "start") == 0 ? k : column_start;
            } else if (k == column_id) {
                id = field[0];
            } else if (k == column_start && id >= 'a' && id <= 'd') {
                start[id - 'a'] = atof(field);
            }
        }
    }
    cr_expect(start[0] == 0 && start[3] == 10 && start[2] == 20 && start[1] == 20, "a %g b %g c %g d %g", start[0], start[1],
              start[2], start[3]);
    if (library != NULL)
        policy_unload(library);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect_eq(system(command), 0);
}
