/* report_args.h - what the arguments of compare, diff, export and plot have in common. */
#ifndef CLI_REPORT_ARGS_H
#define CLI_REPORT_ARGS_H

#include "output/report_file.h"

enum { WORD_LIST_MAX = 64 };

/* "a,b,c" as words; a comma inside brackets does not part. */
struct word_list {
    const char *words[WORD_LIST_MAX];
    uint32_t n;
};

/* Add the words of `text`, blanks around them removed and empty ones dropped; false when there are more than WORD_LIST_MAX. They stay where
 * they are: `text`, an argument of the program, is cut into them. */
bool word_list_add(struct word_list *list, char *text);

/* Open all, or none with `err` filled; `*out` is to be closed with report_files_close. */
int report_files_open(struct report_file **out, char *const *paths, size_t n, struct error *err);
void report_files_close(struct report_file *files, size_t n);

/* Complain about what getopt_long returned ('?' or ':', with a leading ':' in its short options); returns 2. */
int report_args_bad(const char *command, int c, char **argv);

#endif
