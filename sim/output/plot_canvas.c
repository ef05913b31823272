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

/* ---- paper and title --------------------------------------------------------------------------- */

static void terminal(FILE *gp, const struct canvas *c)
{
    double w = c->width, h = c->height;
    fputs("set encoding utf8\n", gp);
    if (strcmp(c->type, "pdf") == 0)
        fprintf(gp, "set terminal pdfcairo noenhanced rounded size %.2fcm,%.2fcm font 'Sans,13' linewidth 1\n", 18 * w,
                18.0 * CANVAS_HEIGHT / CANVAS_WIDTH * h);
    else if (strcmp(c->type, "svg") == 0)
        fprintf(gp, "set terminal svg noenhanced rounded size %.0f,%.0f font 'Sans,13' background '#ffffff'\n",
                CANVAS_WIDTH * w, CANVAS_HEIGHT * h);
    else
        fprintf(gp,
                "if (strstrt(GPVAL_TERMINALS, ' pngcairo ') > 0) {\n"
                "  set terminal pngcairo noenhanced rounded size %.0f,%.0f font 'Sans,13' fontscale 1.8 linewidth 1.8 "
                "pointscale 1.8 background '#ffffff'\n"
                "} else {\n"
                "  set terminal png noenhanced size %.0f,%.0f medium background '#ffffff'\n"
                "}\n",
                1.8 * CANVAS_WIDTH * w, 1.8 * CANVAS_HEIGHT * h, CANVAS_WIDTH * w, CANVAS_HEIGHT * h);
}

/* A line at the top, `down` units below the edge: as large as `size` where that fits, else smaller, down to `least`, else cut. */
static void head_line(struct plot_script *s, const struct canvas *c, int label, const char *text, double down,
                      double size, double least)
{
    char shown[1200];
    double room = CANVAS_WIDTH * c->width - 30;
    plot_text_shorten(shown, sizeof shown, text, (size_t)(room / (CANVAS_CELL * least)));
    double cells = (double)plot_text_cells(shown), fitting = cells > 0 ? room / (CANVAS_CELL * cells) : size;
    fprintf(s->gp, "set label %d ", label);
    plot_quote(s, shown);
    fprintf(s->gp, " at screen %.4f, screen %.4f left font ',%.1f'%s\n", 15 / (CANVAS_WIDTH * c->width),
            1 - down / (CANVAS_HEIGHT * c->height), fitting < size ? fitting : size,
            label == 9001 ? "" : " textcolor '#555555'");
}

/* ---- key ---------------------------------------------------------------------------------------- */

enum {
    KEY_SIZE = 11,   /* of its text */
    KEY_SAMPLE = 34, /* units of line before a name */
    KEY_GAP = 8,     /* behind it */
    KEY_PITCH = 20,  /* of the lines */
    KEY_BESIDE = 20, /* at most so many names of so many cells stand beside the plot */
    KEY_MARGIN = 20, /* around */
    KEY_AXIS = 66,   /* the axis and its name, above a key below */
    KEY_LINES = 3,   /* of one name */
};

/* Where the key stands. */
struct key {
    bool is_beside;
    uint32_t columns, rows;
    double entry; /* units of width */
    size_t cells; /* of a line */
    unsigned lines;
};

static struct key key_plan(const struct canvas *c)
{
    struct key k = {.lines = 1};
    for (uint32_t i = 0; i < c->n_keys; i++) {
        size_t cells = plot_text_cells(c->keys[i]);
        k.cells = cells > k.cells ? cells : k.cells;
    }
    double room = CANVAS_WIDTH * c->width - 2 * KEY_MARGIN, cell = CANVAS_CELL * KEY_SIZE;
    size_t widest = (size_t)((room - KEY_SAMPLE - KEY_GAP) / cell);
    k.is_beside = c->n_keys <= KEY_BESIDE && k.cells <= KEY_BESIDE;
    if (k.cells > widest) {
        k.lines = (unsigned)(k.cells / widest) + 1; /* breaks at blanks need some room */
        k.lines = k.lines + 1 < KEY_LINES ? k.lines + 1 : KEY_LINES;
        k.cells = widest;
    }
    k.entry = KEY_SAMPLE + KEY_GAP + (double)k.cells * cell + KEY_MARGIN;
    k.columns = k.is_beside || k.entry > room / 2 ? 1 : (uint32_t)((room + KEY_MARGIN) / k.entry);
    k.rows = (c->n_keys + k.columns - 1) / k.columns;
    return k;
}

/* One sample and name; `x`, `y` in units from the lower left. */
static void key_entry(struct plot_script *s, const struct canvas *c, const struct key *k, uint32_t index, double x,
                      double y)
{
    double w = CANVAS_WIDTH * c->width, h = CANVAS_HEIGHT * c->height;
    char shown[1200];
    plot_text_wrap(shown, sizeof shown, c->keys[index], k->cells > 0 ? k->cells : 1, k->lines);
    if (c->has_points)
        fprintf(s->gp, "set label %u '' at screen %.5f, screen %.5f point linestyle %u\n", 9100 + 2 * index,
                (x + KEY_SAMPLE / 2.0) / w, y / h, index + 1);
    else
        fprintf(s->gp, "set arrow %u from screen %.5f, screen %.5f to screen %.5f, screen %.5f nohead linestyle %u\n",
                9100 + index, x / w, y / h, (x + KEY_SAMPLE) / w, y / h, index + 1);
    fprintf(s->gp, "set label %u ", 9101 + 2 * index);
    plot_quote(s, shown);
    fprintf(s->gp, " at screen %.5f, screen %.5f left font ',%d'\n", (x + KEY_SAMPLE + KEY_GAP) / w, y / h, KEY_SIZE);
}

static void key_draw(struct plot_script *s, const struct canvas *c, const struct key *k, double top, double below)
{
    double w = CANVAS_WIDTH * c->width, h = CANVAS_HEIGHT * c->height;
    double x = k->is_beside ? w - k->entry : KEY_MARGIN;
    double y = k->is_beside ? h - top - KEY_PITCH / 2.0 : below - KEY_PITCH;
    for (uint32_t i = 0; i < c->n_keys; i++)
        key_entry(s, c, k, i, x + i / k->rows * k->entry, y - i % k->rows * (double)(KEY_PITCH * k->lines));
    if (k->is_beside)
        fprintf(s->gp, "set rmargin at screen %.5f\n", 1 - (k->entry + KEY_MARGIN) / w);
    else
        fprintf(s->gp, "set bmargin at screen %.5f\n", (below + KEY_AXIS) / h);
}

void canvas_begin(struct plot_script *s, struct canvas *c)
{
    FILE *gp = s->gp;
    struct key key = {0};
    double below = 0;
    if (c->n_keys > 0) {
        key = key_plan(c);
        double height = key.rows * (double)(KEY_PITCH * key.lines);
        if (!key.is_beside) {
            below = height + KEY_MARGIN / 2.0;
            c->height += below / CANVAS_HEIGHT;
        } else if (height > CANVAS_HEIGHT * c->height - 100)
            c->height = (height + 100) / CANVAS_HEIGHT;
    }
    terminal(gp, c);
    double top = c->note[0] != '\0' ? 97 : 80;
    head_line(s, c, 9001, c->title, 27, 17, 9);
    head_line(s, c, 9002, c->subtitle, 54, 10.5, 7.5);
    if (c->note[0] != '\0')
        head_line(s, c, 9003, c->note, 75, 10.5, 7.5);
    fprintf(gp, "set tmargin at screen %.4f\nunset key\n", 1 - top / (CANVAS_HEIGHT * c->height));
    fputs("set border 3 linecolor '#444444'\nset format '%g'\n"
          "set tics nomirror out scale 0.6 textcolor '#222222' font ',12'\n"
          "set grid back linecolor '#dddddd' linetype 1 linewidth 0.6\n"
          "set style fill solid 0.85 noborder\n",
          gp);
    canvas_styles(gp, c->n_keys);
    if (c->n_keys > 0)
        key_draw(s, c, &key, top, below);
}

void canvas_tick(struct plot_script *s, char axis, uint32_t index, double at, const char *text, int size)
{
    unsigned lines = 1;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == PLOT_BREAK;
    fprintf(s->gp, "set label %u ", CANVAS_TICKS + index);
    plot_quote(s, text);
    if (axis == 'x')
        fprintf(s->gp, " at first %.10g, graph 0 right rotate by 40 offset character 0.6, character -0.8", at);
    else
        fprintf(s->gp, " at graph 0, first %.10g right offset character -0.8, character %.2f", at, 0.5 * (lines - 1));
    fprintf(s->gp, " font ',%d' textcolor '#222222'\n", size);
}

/* ---- colours and axes ---------------------------------------------------------------------------- */

void canvas_styles(FILE *gp, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(gp, "set style line %u linecolor '%s' dashtype %s linewidth 2 pointtype %u pointsize 0.9\n", i + 1,
                canvas_colour(i), dashes[i % N_DASHES], 5 + 2 * (i % 5) - i / 5 % 2);
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

void canvas_log_time(FILE *gp, char axis, double low_s, double high_s, double share)
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
    double span = high_s / low_s, least_gap = 0.055 / share, last = -INFINITY; /* gaps as parts of the axis */
    bool is_short = span < 2000 && share > 0.6;
    fprintf(gp, "set logscale %c\nset %crange [%.10g:%.10g]\nset %ctics (", axis, axis, low_s, high_s, axis);
    bool is_first = true;
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++)
        if (ticks[i].seconds >= low_s * 0.999 && ticks[i].seconds <= high_s * 1.001 &&
            (is_short || !ticks[i].is_fine) && log(ticks[i].seconds) - last >= least_gap * log(span)) {
            last = log(ticks[i].seconds);
            fprintf(gp, "%s'%s' %.10g", is_first ? "" : ", ", ticks[i].name, ticks[i].seconds);
            is_first = false;
        }
    if (is_first) /* the axis is between two ticks */
        fprintf(gp, "'%.3g s' %.10g, '%.3g s' %.10g", low_s, low_s, high_s, high_s);
    fputs(")\n", gp);
}
