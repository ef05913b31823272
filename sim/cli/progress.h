/* progress.h - how far an experiment is, on stderr: a bar on a terminal, lines elsewhere, or JSON objects, one a line. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "experiment/execute.h"

/* AUTO: a bar when stderr is a terminal, else nothing. */
enum progress_mode { PROGRESS_AUTO, PROGRESS_QUIET, PROGRESS_BAR, PROGRESS_JSON };

struct progress {
    enum progress_mode mode;
    bool is_terminal, is_drawn;
    double drawn_at_s;
};

void progress_init(struct progress *p, enum progress_mode mode);

/* For execute_options.progress, `self` being a struct progress. */
void progress_show(void *self, const struct execute_progress *e);

/* A remark as an object of its own, to be told beside the others of PROGRESS_JSON; `self` is not looked at. */
void progress_remark_json(void *self, const char *line);

#endif
