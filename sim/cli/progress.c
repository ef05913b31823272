#include "cli/progress.h"

#include "output/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };
#define BAR_EVERY_S 0.1

void progress_init(struct progress *p, enum progress_mode mode)
{
    *p = (struct progress){.mode = mode, .is_terminal = isatty(STDERR_FILENO) == 1};
    if (mode == PROGRESS_AUTO)
        p->mode = p->is_terminal ? PROGRESS_BAR : PROGRESS_QUIET;
}

static double runs_per_s(const struct execute_progress *e)
{
    return e->elapsed_s > 0 ? (e->done + e->failed) / e->elapsed_s : 0;
}

static void text_show(const struct execute_progress *e, bool is_bar)
{
    uint32_t ended = e->reused + e->done + e->failed;
    char eta[40], rate[40] = "";
    if (is_bar) {
        int full = e->planned > 0 ? (int)((uint64_t)ended * BAR_WIDTH / e->planned) : BAR_WIDTH;
        fputs("\r[", stderr);
        for (int i = 0; i < BAR_WIDTH; i++)
            fputc(i < full ? '#' : '-', stderr);
        fputs("] ", stderr);
    }
    if (e->done + e->failed > 0)
        snprintf(rate, sizeof rate, "  %.3g runs/s", runs_per_s(e));
    fprintf(stderr, "%u/%u runs%s", ended, e->planned, rate);
    if (!isnan(e->eta_s) && !e->is_end)
        fprintf(stderr, "  ETA %s", table_seconds_text(ceil(e->eta_s), eta, sizeof eta));
    if (e->reused > 0)
        fprintf(stderr, "  (%u stored before)", e->reused);
    if (e->failed > 0)
        fprintf(stderr, "  (%u failed)", e->failed);
    fputs(is_bar ? (e->is_end ? "\033[K\n" : "\033[K") : "\n", stderr);
    fflush(stderr);
}

static void json_text(const char *before, const char *key, const char *text)
{
    fprintf(stderr, "%s\"%s\": \"", before, key);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(stderr, "\\%c", c);
        else if (c < 0x20)
            fprintf(stderr, "\\u%04x", c);
        else
            fputc(c, stderr);
    }
    fputc('"', stderr);
}

static void json_show(const struct execute_progress *e)
{
    fprintf(stderr, "{\"planned\": %u, \"reused\": %u, \"done\": %u, \"failed\": %u, \"elapsed_s\": %.3f", e->planned,
            e->reused, e->done, e->failed, e->elapsed_s);
    if (isnan(e->eta_s))
        fputs(", \"eta_s\": null", stderr);
    else
        fprintf(stderr, ", \"eta_s\": %.3f", e->eta_s);
    if (e->id != NULL && e->id[0] != '\0')
        json_text(", ", "run", e->id);
    if (e->run != NULL)
        json_text(", ", "label", e->run->policy.label);
    if (e->message != NULL)
        json_text(", ", "message", e->message);
    fprintf(stderr, ", \"end\": %s}\n", e->is_end ? "true" : "false");
    fflush(stderr);
}

void progress_show(void *self, const struct execute_progress *e)
{
    struct progress *p = self;
    switch (p->mode) {
    case PROGRESS_BAR:
        /* a terminal is drawn at most ten times a second; a file gets a line a run */
        if (p->is_terminal ? !e->is_end && p->is_drawn && e->elapsed_s - p->drawn_at_s < BAR_EVERY_S
                           : e->run == NULL && !e->is_end)
            return;
        p->is_drawn = true;
        p->drawn_at_s = e->elapsed_s;
        text_show(e, p->is_terminal);
        return;
    case PROGRESS_JSON:
        if (e->run != NULL || e->is_end || e->done + e->failed + e->reused == 0)
            json_show(e);
        return;
    case PROGRESS_AUTO:
    case PROGRESS_QUIET:
        return;
    }
}

void progress_remark_json(void *self, const char *line)
{
    (void)self;
    json_text("{", "remark", line);
    fputs("}\n", stderr);
}
