#include "cli/report_args.h"

#include "cli/cli.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static bool add_word(struct word_list *list, char *begin, char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (begin < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (begin == end)
        return true;
    if (list->n == WORD_LIST_MAX)
        return false;
    *end = '\0';
    list->words[list->n++] = begin;
    return true;
}

bool word_list_add(struct word_list *list, char *text)
{
    int depth = 0;
    char *begin = text, *c = text;
    for (; *c != '\0'; c++) {
        depth += *c == '[' || *c == '{' ? 1 : *c == ']' || *c == '}' ? -1 : 0;
        if (*c != ',' || depth > 0)
            continue;
        char *next = c + 1;
        if (!add_word(list, begin, c))
            return false;
        begin = next;
    }
    return add_word(list, begin, c);
}

int report_files_open(struct report_file **out, char *const *paths, size_t n, struct error *err)
{
    *out = calloc(n, sizeof **out);
    if (*out == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (size_t i = 0; i < n; i++) {
        int code = report_file_open(&(*out)[i], paths[i], err);
        if (code != BRAID_OK) {
            report_files_close(*out, i);
            *out = NULL;
            return code;
        }
    }
    return BRAID_OK;
}

void report_files_close(struct report_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        report_file_close(&files[i]);
    free(files);
}

int report_args_bad(const char *command, int c, char **argv)
{
    const char *word = argv[optind - 1];
    if (c == ':')
        return cli_usage(command, "%s needs a value", word);
    if (optopt != 0 && word[0] == '-' && word[1] != '-')
        return cli_usage(command, "unknown option '-%c'", optopt);
    return cli_usage(command, "unknown option '%s'", word);
}
