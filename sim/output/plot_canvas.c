#include "output/plot_canvas.h"

#include <math.h>
#include <string.h>

/* Okabe and Ito, "Color Universal Design"; for their yellow, which is too light for lines on white, a grey. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#000000", "#8C8C8C"};
enum { N_COLOURS = sizeof colours / sizeof colours[0] };

/* Five and eight have no common divisor, so 40 curves are all different. */
static const char *const dashes[] = {"solid", "(30,12)", "(8,10)", "(32,10,8,10)", "(50,10,8,10,8,10)"};
enum { N_DASHES = sizeof dashes / sizeof dashes[0] };

const char *canvas_colour(uint32_t index)
{
    return colours[index % N_COLOURS];
}

void canvas_begin(FILE *gp, const struct canvas *c)
{
    double w = c->width, h = c->height;
    fputs("set encoding utf8\n", gp);
    if (strcmp(c->type, "pdf") == 0)
        fprintf(gp, "set terminal pdfcairo noenhanced rounded size %.2fcm,%.2fcm font 'Sans,9' linewidth 1\n", 18 * w,
                11 * h);
    else if (strcmp(c->type, "svg") == 0)
        fprintf(gp, "set terminal svg noenhanced rounded size %.0f,%.0f font 'Sans,13' background '#ffffff'\n", 960 * w,
                590 * h);
    else
        fprintf(gp,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                "  set terminal pngcairo noenhanced rounded size %.0f,%.0f font 'Sans,13' fontscale 1.8 linewidth 1.8 "
                "pointscale 1.8 "
                "background '#ffffff'\n"
                "} else {\n"
                "  set terminal png noenhanced size %.0f,%.0f medium background '#ffffff'\n"
                "}\n",
                1730 * w, 1060 * h, 960 * w, 590 * h);
    fputs("set label 9001 ", gp);
    plot_quote(gp, c->title);
    fprintf(gp, " at screen %.4f, screen %.4f left font ',17'\nset label 9002 ", 0.015 / w, 1 - 0.045 / h);
    plot_quote(gp, c->subtitle);
    fprintf(gp, " at screen %.4f, screen %.4f left font ',10.5' textcolor '#555555'\n", 0.015 / w, 1 - 0.092 / h);
    if (c->note[0] != '\0') {
        fputs("set label 9003 ", gp);
        plot_quote(gp, c->note);
        fprintf(gp, " at screen %.4f, screen %.4f left font ',10.5' textcolor '#555555'\n", 0.015 / w, 1 - 0.128 / h);
    }
    fprintf(gp, "set tmargin at screen %.4f\n", 1 - (c->note[0] != '\0' ? 0.165 : 0.135) / h);
    fputs("set border 3 linecolor '#444444'\n"
          "set tics nomirror out scale 0.6 textcolor '#222222' font ',12'\n"
          "set grid back linecolor '#dddddd' linetype 1 linewidth 0.6\n"
          "set style fill solid 0.85 noborder\n",
          gp);
}

void canvas_styles(FILE *gp, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(gp, "set style line %u linecolor '%s' dashtype %s linewidth 2 pointtype %u pointsize 0.9\n", i + 1,
                canvas_colour(i), dashes[i % N_DASHES], 5 + 2 * (i % 5) - i / 5 % 2);
}

void canvas_key(FILE *gp, uint32_t n)
{
    fprintf(gp, "set key outside right top vertical Left reverse samplen 3.2 spacing %s\n", n > 16 ? "1" : "1.25");
}

struct time_unit canvas_time_unit(double largest_s)
{
    if (largest_s < 300)
        return (struct time_unit){"s", 1};
    if (largest_s < 3 * 3600)
        return (struct time_unit){"min", 60};
    if (largest_s < 5 * 86400)
        return (struct time_unit){"h", 3600};
    return (struct time_unit){"d", 86400};
}

void canvas_log_time(FILE *gp, char axis, double low_s, double high_s)
{
    static const struct {
        double seconds;
        const char *name;
        bool is_fine; /* only where the axis is short */
    } ticks[] = {
        {1e-3, "1 ms", false},   {1e-2, "10 ms", false},  {0.1, "0.1 s", false},     {1, "1 s", false},
        {3, "3 s", true},        {10, "10 s", false},     {30, "30 s", true},        {60, "1 min", false},
        {180, "3 min", true},    {600, "10 min", false},  {1800, "30 min", true},    {3600, "1 h", false},
        {10800, "3 h", true},    {36000, "10 h", false},  {86400, "1 d", false},     {259200, "3 d", true},
        {864000, "10 d", false}, {2592000, "30 d", true}, {8640000, "100 d", false}, {86400e3, "1000 d", false}};
    double span = high_s / low_s;
    bool is_short = span < 2000;
    bool is_long = span > 3e5; /* "10 h" and "1 d" would touch */
    fprintf(gp, "set logscale %c\nset %crange [%.10g:%.10g]\nset %ctics (", axis, axis, low_s, high_s, axis);
    bool is_first = true;
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++)
        if (ticks[i].seconds >= low_s * 0.999 && ticks[i].seconds <= high_s * 1.001 &&
            (is_short || !ticks[i].is_fine) && !(is_long && ticks[i].seconds == 36000)) {
            fprintf(gp, "%s'%s' %.10g", is_first ? "" : ", ", ticks[i].name, ticks[i].seconds);
            is_first = false;
        }
    if (is_first) /* the axis is between two ticks */
        fprintf(gp, "'%.3g s' %.10g, '%.3g s' %.10g", low_s, low_s, high_s, high_s);
    fputs(")\n", gp);
}

void canvas_curve_title(FILE *gp, const char *label)
{
    fputs(" title ", gp);
    plot_quote(gp, *label != '\0' ? label : "(no name)");
}
