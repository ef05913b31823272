/* Pictures of a trace as text: bars, and a line of characters of growing ink.
 *
 *     Jobs a bin of 1.8 days, from 2017-09-04 to 2017-12-22 (at most 2,804)
 *     |:-=+**#%@%#+=-:..:-=+*#%@|
 */
#include "base/number.h"
#include "cli/cmd_trace.h"

#include <inttypes.h>
#include <string.h>

enum { BAR = 40, LINE = 64, MAGNITUDES = 9 };

void picture_bars(const char *title, const char *const *labels, const uint64_t *counts, int n)
{
    uint64_t most = 1;
    for (int i = 0; i < n; i++)
        most = counts[i] > most ? counts[i] : most;
    printf("\n%s\n", title);
    for (int i = 0; i < n; i++) {
        char bar[BAR + 1];
        size_t length = (size_t)(counts[i] * BAR / most);
        memset(bar, '#', length);
        bar[length] = '\0';
        if (labels != NULL)
            printf("%12s", labels[i]);
        else
            printf("%5d", i);
        printf(" %10" PRIu64 "%s%s\n", counts[i], length > 0 ? " " : "", bar);
    }
}

/* Ink for a part of the whole, none only for nothing at all. */
static char ink(double part)
{
    static const char shades[] = " .:-=+*#%@";
    int levels = (int)sizeof shades - 2;
    if (!(part > 0))
        return ' ';
    int level = 1 + (int)(part * levels);
    return shades[level > levels ? levels : level];
}

static void print_line(const double *values, double most)
{
    char text[LINE + 1];
    for (int i = 0; i < LINE; i++)
        text[i] = ink(most > 0 ? values[i] / most : 0);
    text[LINE] = '\0';
    printf("|%s|\n", text);
}

static void print_span(const struct workload *w)
{
    double jobs[LINE] = {0}, gpu_s[LINE] = {0}, most_jobs = 0, most_gpu_s = 0;
    int64_t first_ns = w->submit_ns[0], last_ns = w->submit_ns[w->n_jobs - 1];
    double bin_ns = (double)(last_ns - first_ns) / LINE;
    if (last_ns == first_ns)
        return;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        int at = (int)((double)(w->submit_ns[j] - first_ns) / bin_ns);
        at = at < LINE ? at : LINE - 1;
        jobs[at]++;
        gpu_s[at] += (double)w->gpus[j] * (double)w->duration_ns[j] / 1e9;
        most_jobs = jobs[at] > most_jobs ? jobs[at] : most_jobs;
        most_gpu_s = gpu_s[at] > most_gpu_s ? gpu_s[at] : most_gpu_s;
    }
    printf("\nArrivals over the whole span, %d bins of %.4g h; the darkest is %.0f jobs\n", LINE, bin_ns / 3600e9,
           most_jobs);
    print_line(jobs, most_jobs);
    printf("GPU-hours that arrive in them; the darkest is %.4g GPU-hours\n", most_gpu_s / 3600);
    print_line(gpu_s, most_gpu_s);
}

void picture_arrivals(const struct workload *w)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    uint64_t by_hour[24] = {0}, by_day[7] = {0};
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        int64_t s = w->origin_utc_s + w->submit_ns[j] / NS_PER_S;
        by_hour[(s % 86400 + 86400) % 86400 / 3600]++;
        by_day[((s / 86400 + 3) % 7 + 7) % 7]++; /* 1970-01-01 was a Thursday */
    }
    picture_bars(w->has_origin ? "Arrivals by hour of the day (UTC)" : "Arrivals by hour, days counted from time 0",
                 NULL, by_hour, 24);
    if (w->has_origin)
        picture_bars("Arrivals by weekday (UTC)", days, by_day, 7);
    print_span(w);
}

void picture_durations(const struct workload *w)
{
    static const char *const labels[MAGNITUDES] = {"0 .. 1 s",    "1 .. 10 s",    "10 .. 60 s",
                                                   "1 .. 10 min", "10 .. 60 min", "1 .. 10 h",
                                                   "10 .. 24 h",  "1 .. 7 d",     "over 7 d"};
    static const int64_t ends_s[MAGNITUDES - 1] = {1, 10, 60, 600, 3600, 36000, 86400, 7 * 86400};
    uint64_t jobs[MAGNITUDES] = {0};
    double gpu_ns[MAGNITUDES] = {0}, all = 0;
    uint64_t percent[MAGNITUDES];
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        int at = 0;
        while (at < MAGNITUDES - 1 && w->duration_ns[j] >= ends_s[at] * NS_PER_S)
            at++;
        jobs[at]++;
        gpu_ns[at] += (double)w->gpus[j] * (double)w->duration_ns[j];
        all += (double)w->gpus[j] * (double)w->duration_ns[j];
    }
    picture_bars("Jobs by duration", labels, jobs, MAGNITUDES);
    for (int i = 0; i < MAGNITUDES; i++)
        percent[i] = all > 0 ? (uint64_t)(100 * gpu_ns[i] / all + 0.5) : 0;
    picture_bars("GPU time by duration, %", labels, percent, MAGNITUDES);
}
