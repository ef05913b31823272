/* report_args.h - what the arguments of compare, diff, export and plot have in common. */
#ifndef CLI_REPORT_ARGS_H
#define CLI_REPORT_ARGS_H

#include "output/report_file.h"

enum { WORD_LIST_MAX = 64 };

/* "a,b,c" as words; a comma inside brackets does not part. */
struct word_list {
    const char *words[WORD_LIST_MAX];
    uint32_t n;
    struct arena arena;
};

/* Add the words of `text`, blanks around them removed and empty ones dropped; false when there are too many or memory is out. */
bool word_list_add(struct word_list *list, const char *text);
void word_list_fini(struct word_list *list);

/* Open all, or none with `err` filled; `*out` is to be closed with report_files_close. */
int report_files_open(struct report_file **out, char *const *paths, size_t n, struct error *err);
void report_files_close(struct report_file *files, size_t n);

/* Complain about what getopt_long returned ('?' or ':', with a leading ':' in its short options); returns 2. */
int report_args_bad(const char *command, int c, char **argv);

#endif
