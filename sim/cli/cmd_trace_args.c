/* The options that the subcommands of `braid trace` share: one table, and a letter for each subcommand that takes one. */
#include "cli/cmd_trace.h"

#include "base/outfile.h"
#include "experiment/config_columns.h"
#include "traces/reader.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct trace_arguments, member)

static const struct {
    const char *name;
    char letter;
    bool is_flag;
    size_t at; /* of a const char *, or a bool for a flag */
} table[] = {
    {"format", 'f', false, AT(format)},
    {"failed", 'm', false, AT(failed)},
    {"applications", 'a', false, AT(applications)},
    {"strict", 's', true, AT(strict)},
    {"output", 'o', false, AT(output)},
    {"to", 't', false, AT(to)},
    {"cluster", 'c', false, AT(cluster)},
    {"gpus", 'g', false, AT(gpus)},
    {"days", 'd', false, AT(days)},
    {"vcs", 'v', false, AT(vcs)},
    {"users", 'u', false, AT(users)},
    {"bootstrap", 'b', true, AT(bootstrap)},
    {"seed", 'S', false, AT(seed)},
    {"length", 'l', false, AT(length)},
    {"by", 'y', false, AT(by)},
    {"same-weekday", 'w', true, AT(same_weekday)},
    {"columns", 'C', false, AT(columns)},
    {"separator", 'X', false, AT(separator)},
    {"header", 'H', false, AT(header)},
    {"unit", 'U', false, AT(unit)},
};
enum { N_OPTIONS = sizeof table / sizeof table[0] };

void trace_formats_print(FILE *out)
{
    fputs("FILE may be '-', standard input. Formats (told apart by content, plain or gzip):\n", out);
    for (const struct trace_reader *const *r = reader_list(); *r != NULL; r++)
        fprintf(out, "  %-12s  %s\n", (*r)->name, (*r)->summary);
}

static const char columns_help[] =
    "A table of any shape is read by naming its columns, as trace.columns of a config does (docs/formats/columns.md;\n"
    "'braid trace guess FILE' proposes them):\n"
    "  --columns LIST    id=COLUMN,submit=COLUMN,gpus=COLUMN,duration=COLUMN,... or the same as YAML in braces:\n"
    "                    '{submit: t, gpus: {constant: 1}, duration: {from: start, to: end}}'\n"
    "  --separator NAME  " MAPPING_SEPARATORS "\n"
    "  --header WORD     auto, true or false; without a header columns are called 1, 2, ...\n"
    "  --unit UNIT       of times and spans that name none: s (default), ms, min, h, d, unix, unix_ms, ...\n\n";

int trace_arguments_load(const struct trace_arguments *a, struct workload *w, struct error *err)
{
    struct arena arena;
    struct trace_spec spec = a->spec;
    int code = BRAID_OK;
    workload_init(w);
    arena_init(&arena);
    if (a->columns != NULL)
        code = config_columns_parse(&spec.mapping, a->columns, a->separator, a->header, a->unit, &arena, err);
    else if (a->separator != NULL || a->header != NULL || a->unit != NULL)
        code =
            error_set(err, BRAID_BAD_INPUT, "--separator, --header and --unit are for a table; give its --columns too");
    if (code == BRAID_OK)
        code = trace_load(w, &spec, err);
    arena_fini(&arena);
    return code;
}

static void store(struct trace_arguments *a, int i, const char *value)
{
    char *to = (char *)a + table[i].at;
    bool yes = true;
    if (table[i].is_flag)
        memcpy(to, &yes, sizeof yes);
    else
        memcpy(to, &value, sizeof value);
}

static int set_spec(struct trace_arguments *a, const char *command)
{
    static const char *const failed[] = {"run", "drop", "merge_attempts"};
    a->spec = (struct trace_spec){
        .path = a->paths[0],
        .shown_path = a->paths[0],
        .format = a->format != NULL ? a->format : "auto",
        .applications_path = a->applications,
        .applications_shown = a->applications,
        .jobs = TRACE_NO_LIMIT,
        .strict = a->strict,
    };
    for (int i = 0; i < 3 && a->failed != NULL; i++)
        if (strcmp(failed[i], a->failed) == 0) {
            a->spec.failed = (enum trace_failed)i;
            return 0;
        }
    if (a->failed != NULL)
        return 1 + cli_usage(command, "--failed is run, drop or merge_attempts, not '%s'", a->failed);
    return 0;
}

/* The output is none of the files that are read. Returns as trace_arguments_read. */
static int refuse_inputs(const struct trace_arguments *a)
{
    const char *const inputs[] = {a->paths[0], a->paths[1], a->applications, a->cluster};
    struct error err = {0};
    for (size_t i = 0; a->output != NULL && i < sizeof inputs / sizeof inputs[0]; i++)
        if (outfile_refuse_input(a->output, inputs[i], &err) != BRAID_OK)
            return 1 + cli_fail(&err);
    return 0;
}

int trace_arguments_read(struct trace_arguments *a, const char *takes, int n_paths, const char *help, int argc,
                         char **argv)
{
    struct option options[N_OPTIONS + 2] = {{"help", no_argument, NULL, 'h'}};
    int n = 1;
    char command[32];
    snprintf(command, sizeof command, "trace %s", argv[0]);
    for (int i = 0; i < N_OPTIONS; i++)
        if (strchr(takes, table[i].letter) != NULL)
            options[n++] = (struct option){table[i].name, table[i].is_flag ? no_argument : required_argument, NULL,
                                           table[i].letter};
    *a = (struct trace_arguments){0};
    optind = 0; /* start anew */
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, strchr(takes, 'o') != NULL ? "o:h" : "h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            if (strchr(takes, 'C') != NULL)
                fputs(columns_help, stdout);
            trace_formats_print(stdout);
            return 1 + cli_finish();
        }
        int i = 0;
        while (i < N_OPTIONS && table[i].letter != option)
            i++;
        if (i == N_OPTIONS)
            return 1 + cli_usage(command, "unknown option or missing value at '%s'", argv[optind - 1]);
        store(a, i, optarg);
    }
    if (argc - optind < n_paths)
        return 1 + cli_usage(command, n_paths == 1 ? "which file?" : "which files? two are wanted");
    if (argc - optind > n_paths)
        return 1 +
               cli_usage(command,
                         n_paths == 1 ? "one file at a time; unexpected '%s'" : "two files are wanted; unexpected '%s'",
                         argv[optind + n_paths]);
    for (int i = 0; i < n_paths; i++)
        a->paths[i] = strcmp(argv[optind + i], "-") == 0 ? "/dev/stdin" : argv[optind + i];
    int status = set_spec(a, command);
    return status != 0 ? status : refuse_inputs(a);
}
