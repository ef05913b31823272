#include "output/table.h"

#include "base/arena.h"
#include "output/export_number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct cell {
    const char *text;         /* NULL: a number */
    const char *clean;        /* the text without ends of lines and other control characters, for people */
    double number, low, high; /* without an interval NaN */
};

struct table {
    struct arena arena;
    struct table_column *columns;
    uint32_t n_columns;
    struct cell *cells; /* row after row */
    size_t n_cells, capacity;
    bool *rules; /* a row: a rule above it */
    size_t rules_capacity;
    bool is_short; /* memory ran out */
};

/* How the numbers of one column are shown to people. */
struct style {
    const char *unit; /* under the title; "" */
    double divisor;
    int decimals; /* -1: %.4g */
    int width;
    bool is_right;
    bool is_by_cell; /* seconds that lie too far apart for one unit: each in its own */
};

bool table_format_parse(const char *word, enum table_format *out)
{
    static const struct {
        const char *word;
        enum table_format format;
    } formats[] = {{"table", TABLE_FORMAT_TEXT}, {"text", TABLE_FORMAT_TEXT}, {"csv", TABLE_FORMAT_CSV},
                   {"json", TABLE_FORMAT_JSON},  {"md", TABLE_FORMAT_MD},     {"latex", TABLE_FORMAT_LATEX}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(word, formats[i].word) == 0) {
            *out = formats[i].format;
            return true;
        }
    return false;
}

static const char *text_copy(struct arena *a, const char *text)
{
    return text == NULL ? NULL : arena_text(a, text, strlen(text));
}

struct table *table_create(const struct table_column *columns, uint32_t n_columns)
{
    struct table *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    arena_init(&t->arena);
    t->n_columns = n_columns;
    t->columns = ARENA_NEW(&t->arena, struct table_column, n_columns);
    for (uint32_t i = 0; t->columns != NULL && i < n_columns; i++) {
        t->columns[i].kind = columns[i].kind;
        t->columns[i].name = text_copy(&t->arena, columns[i].name);
        t->columns[i].title = text_copy(&t->arena, columns[i].title != NULL ? columns[i].title : columns[i].name);
        t->columns[i].unit = text_copy(&t->arena, columns[i].unit != NULL ? columns[i].unit : "");
    }
    if (t->arena.is_short) {
        table_destroy(t);
        return NULL;
    }
    return t;
}

void table_destroy(struct table *t)
{
    if (t == NULL)
        return;
    free(t->cells);
    free(t->rules);
    arena_fini(&t->arena);
    free(t);
}

static void cell_add(struct table *t, struct cell cell)
{
    if (t->n_cells == t->capacity) {
        size_t capacity = t->capacity == 0 ? 64 : 2 * t->capacity;
        struct cell *cells = realloc(t->cells, capacity * sizeof *cells);
        if (cells == NULL) {
            t->is_short = true;
            return;
        }
        t->cells = cells;
        t->capacity = capacity;
    }
    t->cells[t->n_cells++] = cell;
}

static const char *text_clean(struct arena *a, const char *text)
{
    char *clean = NULL;
    for (size_t i = 0; text != NULL && text[i] != '\0'; i++) {
        if ((unsigned char)text[i] >= 0x20 && text[i] != 0x7f)
            continue;
        if (clean == NULL && (clean = arena_text(a, text, strlen(text))) == NULL)
            return NULL;
        clean[i] = ' ';
    }
    return clean != NULL ? clean : text;
}

void table_text(struct table *t, const char *text)
{
    const char *copy = text_copy(&t->arena, text != NULL ? text : "");
    cell_add(t, (struct cell){.text = copy, .clean = text_clean(&t->arena, copy)});
}

void table_number(struct table *t, double value)
{
    table_interval(t, value, NAN, NAN);
}

void table_interval(struct table *t, double value, double low, double high)
{
    cell_add(t, (struct cell){.number = value, .low = low, .high = high});
}

static uint32_t table_n_rows(const struct table *t)
{
    return (uint32_t)(t->n_cells / t->n_columns);
}

bool table_is_empty(const struct table *t)
{
    return t->n_cells == 0 && !t->is_short;
}

void table_rule(struct table *t)
{
    size_t row = table_n_rows(t);
    if (row >= t->rules_capacity) {
        size_t capacity = 2 * row + 16;
        bool *rules = realloc(t->rules, capacity * sizeof *rules);
        if (rules == NULL) {
            t->is_short = true;
            return;
        }
        memset(rules + t->rules_capacity, 0, (capacity - t->rules_capacity) * sizeof *rules);
        t->rules = rules;
        t->rules_capacity = capacity;
    }
    t->rules[row] = true;
}

/* ---- for people: a unit and a number of decimals for each column ---- */

static const struct {
    const char *unit;
    double seconds, below; /* used while the largest value is below (in seconds) */
} time_units[] = {{"s", 1, 300}, {"min", 60, 5 * 3600}, {"h", 3600, 10 * 86400}, {"d", 86400, INFINITY}};

static void style_seconds(struct style *s, double largest)
{
    size_t i = 0;
    while (!(largest < time_units[i].below) && i + 1 < sizeof time_units / sizeof time_units[0])
        i++;
    s->unit = time_units[i].unit;
    s->divisor = time_units[i].seconds;
}

static int decimals_for(double largest)
{
    return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

const char *table_seconds_text(double value, char *out, size_t size)
{
    struct style s = {0};
    if (isnan(value)) {
        snprintf(out, size, "-");
        return out;
    }
    style_seconds(&s, fabs(value));
    double shown = value / s.divisor;
    snprintf(out, size, "%.*f %s", fabs(shown) >= 100 ? 0 : fabs(shown) >= 10 ? 1 : 2, shown, s.unit);
    return out;
}

/* Columns of a terminal: wide characters (Chinese, Japanese, Korean) count two, those that combine none. Needs the character set of the
 * thread to be UTF-8; bytes that are none count one each. */
static int text_width(const char *text)
{
    int n = 0;
    mbstate_t state = {0};
    for (size_t left = strlen(text); left > 0;) {
        wchar_t wide;
        size_t bytes = mbrtowc(&wide, text, left, &state);
        if (bytes == 0 || bytes > left) {
            memset(&state, 0, sizeof state);
            n += ((unsigned char)*text & 0xC0) != 0x80;
            bytes = 1;
        } else {
            int columns = wcwidth(wide);
            n += columns >= 0 ? columns : 1;
        }
        text += bytes;
        left -= bytes;
    }
    return n;
}

static void show_number(char *out, size_t size, double value, const struct style *s)
{
    if (s->decimals < 0)
        snprintf(out, size, "%.4g", value / s->divisor);
    else
        snprintf(out, size, "%.*f", s->decimals, value / s->divisor);
}

/* The style of one cell of a column in which each has its own unit. */
static struct style style_of_cell(const struct cell *c)
{
    struct style s = {.divisor = 1};
    style_seconds(&s, fabs(c->number));
    double shown = fabs(c->number) / s.divisor;
    s.decimals = shown >= 100 ? 0 : shown >= 10 ? 1 : 2;
    return s;
}

/* "17.8", "17.8 ± 7.1", and where the number is not in the middle "17.8 [3.0, 25.1]". */
static const char *cell_show(const struct cell *c, const struct style *of_column, char *buffer, size_t size)
{
    if (c->text != NULL)
        return c->clean != NULL ? c->clean : "";
    if (isnan(c->number))
        return "-";
    const struct style s = of_column->is_by_cell ? style_of_cell(c) : *of_column;
    char number[100], low[100], high[100];
    const char *blank = of_column->is_by_cell ? " " : "", *unit = of_column->is_by_cell ? s.unit : "";
    show_number(number, sizeof number, c->number, &s);
    bool is_centred = fabs((c->low + c->high) / 2 - c->number) <= 1e-9 * (c->high - c->low);
    if (isnan(c->low) || isnan(c->high)) {
        snprintf(buffer, size, "%s%s%s", number, blank, unit);
    } else if (is_centred) {
        show_number(high, sizeof high, (c->high - c->low) / 2, &s);
        snprintf(buffer, size, "%s ± %s%s%s", number, high, blank, unit);
    } else {
        show_number(low, sizeof low, c->low, &s);
        show_number(high, sizeof high, c->high, &s);
        snprintf(buffer, size, "%s [%s, %s]%s%s", number, low, high, blank, unit);
    }
    return buffer;
}

enum { ONE_UNIT_UP_TO = 1000 }; /* times the least value */

static struct style style_make(const struct table *t, uint32_t column)
{
    const struct table_column *c = &t->columns[column];
    struct style s = {.unit = c->unit, .divisor = 1, .is_right = c->kind != TABLE_KIND_TEXT};
    size_t n_rows = table_n_rows(t);
    double largest = 0, least = INFINITY;
    for (size_t r = 0; r < n_rows; r++) {
        const struct cell *cell = &t->cells[r * t->n_columns + column];
        if (cell->text == NULL && fabs(cell->number) > largest)
            largest = fabs(cell->number);
        if (cell->text == NULL && fabs(cell->number) > 0)
            least = fmin(least, fabs(cell->number));
    }
    switch (c->kind) {
    case TABLE_KIND_SECONDS:
        style_seconds(&s, largest);
        s.decimals = decimals_for(largest / s.divisor);
        s.is_by_cell = largest > ONE_UNIT_UP_TO * least;
        s.unit = s.is_by_cell ? "" : s.unit;
        break;
    case TABLE_KIND_FRACTION:
        s.unit = "%";
        s.divisor = 0.01;
        s.decimals = 1;
        break;
    case TABLE_KIND_NUMBER:
        s.decimals = largest >= 1e6 || (largest > 0 && largest < 0.01) ? -1 : decimals_for(largest);
        break;
    case TABLE_KIND_COUNT:
    case TABLE_KIND_TEXT:
        break;
    }
    int title = text_width(c->title), unit = text_width(s.unit);
    s.width = title > unit ? title : unit;
    for (size_t r = 0; r < n_rows; r++) {
        char buffer[400];
        int w = text_width(cell_show(&t->cells[r * t->n_columns + column], &s, buffer, sizeof buffer));
        s.width = w > s.width ? w : s.width;
    }
    return s;
}

static void pad(FILE *out, int n)
{
    fprintf(out, "%*s", n > 0 ? n : 0, "");
}

static void print_latex_text(const char *text, FILE *out)
{
    static const char plus_minus[] = "±";
    if (*text == '[' || *text == '*') /* behind \\\\ these would be an argument */
        fputs("{}", out);
    for (; *text != '\0'; text++) {
        if (strncmp(text, plus_minus, strlen(plus_minus)) == 0) {
            fputs("$\\pm$", out);
            text += strlen(plus_minus) - 1;
        } else if (strchr("&%$#_{}", *text) != NULL)
            fprintf(out, "\\%c", *text);
        else if (*text == '\\')
            fputs("\\textbackslash{}", out);
        else if (*text == '~')
            fputs("\\textasciitilde{}", out);
        else if (*text == '^')
            fputs("\\textasciicircum{}", out);
        else
            fputc(*text, out);
    }
}

static void print_md_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* One line of the aligned formats; `what` gives the text of a column. */
static void print_line(const struct table *t, const struct style *styles, const char *const *texts,
                       enum table_format format, FILE *out)
{
    uint32_t n = t->n_columns;
    while (format == TABLE_FORMAT_TEXT && n > 1 && texts[n - 1][0] == '\0')
        n--; /* no blanks at the end of a line */
    for (uint32_t i = 0; i < n; i++) {
        const struct style *s = &styles[i];
        int fill = s->width - text_width(texts[i]);
        bool is_last = i + 1 == n;
        if (format == TABLE_FORMAT_MD)
            fputs(i == 0 ? "| " : " | ", out);
        else if (i > 0)
            fputs(format == TABLE_FORMAT_LATEX ? " & " : "  ", out);
        if (s->is_right)
            pad(out, fill);
        if (format == TABLE_FORMAT_LATEX)
            print_latex_text(texts[i], out);
        else if (format == TABLE_FORMAT_MD)
            print_md_text(texts[i], out);
        else
            fputs(texts[i], out);
        if (!s->is_right && (!is_last || format == TABLE_FORMAT_MD))
            pad(out, fill);
    }
    fputs(format == TABLE_FORMAT_MD ? " |\n" : format == TABLE_FORMAT_LATEX ? " \\\\\n" : "\n", out);
}

static void print_rule(const struct table *t, const struct style *styles, enum table_format format, FILE *out)
{
    if (format == TABLE_FORMAT_LATEX) {
        fputs("\\midrule\n", out);
        return;
    }
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (format == TABLE_FORMAT_MD)
            fputs(i == 0 ? "| " : " | ", out);
        else if (i > 0)
            fputs("  ", out);
        for (int w = 0; w < styles[i].width; w++)
            fputc(format == TABLE_FORMAT_MD && styles[i].is_right && w + 1 == styles[i].width ? ':' : '-', out);
    }
    fputs(format == TABLE_FORMAT_MD ? " |\n" : "\n", out);
}

static bool print_people(const struct table *t, enum table_format format, FILE *out)
{
    uint32_t n = t->n_columns;
    struct style *styles = calloc(n, sizeof *styles);
    const char **texts = calloc(n, sizeof *texts);
    char(*buffers)[400] = calloc(n, sizeof *buffers);
    /* wide characters are known by the character set; numbers and everything else stay those of the program */
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 != (locale_t)0 ? uselocale(utf8) : (locale_t)0;
    bool ok = styles != NULL && texts != NULL && buffers != NULL;
    if (!ok)
        goto done;
    bool has_units = false;
    for (uint32_t i = 0; i < n; i++) {
        styles[i] = style_make(t, i);
        has_units |= styles[i].unit[0] != '\0';
    }
    if (format == TABLE_FORMAT_LATEX) {
        fputs("\\begin{tabular}{", out);
        for (uint32_t i = 0; i < n; i++)
            fputc(styles[i].is_right ? 'r' : 'l', out);
        fputs("}\n\\toprule\n", out);
    }
    for (uint32_t i = 0; i < n; i++) {
        texts[i] = t->columns[i].title;
        if (format == TABLE_FORMAT_MD && styles[i].unit[0] != '\0') { /* a Markdown table has one line of titles */
            snprintf(buffers[i], sizeof buffers[i], "%s [%s]", t->columns[i].title, styles[i].unit);
            texts[i] = buffers[i];
            int w = text_width(buffers[i]);
            styles[i].width = w > styles[i].width ? w : styles[i].width;
        }
    }
    print_line(t, styles, texts, format, out);
    if (has_units && format != TABLE_FORMAT_MD) {
        for (uint32_t i = 0; i < n; i++)
            texts[i] = styles[i].unit;
        print_line(t, styles, texts, format, out);
    }
    print_rule(t, styles, format, out);
    for (size_t r = 0; r < table_n_rows(t); r++) {
        if (r > 0 && r < t->rules_capacity && t->rules[r] && format != TABLE_FORMAT_MD)
            print_rule(t, styles, format, out);
        for (uint32_t i = 0; i < n; i++)
            texts[i] = cell_show(&t->cells[r * n + i], &styles[i], buffers[i], sizeof buffers[i]);
        print_line(t, styles, texts, format, out);
    }
    if (format == TABLE_FORMAT_LATEX)
        fputs("\\bottomrule\n\\end{tabular}\n", out);
done:
    if (utf8 != (locale_t)0) {
        uselocale(before);
        freelocale(utf8);
    }
    free(styles);
    free(texts);
    free(buffers);
    return ok;
}

/* ---- for programs: values as they are ---- */

static void print_number(double value, FILE *out)
{
    char text[EXPORT_NUMBER_MAX];
    fputs(number_shortest(value, text), out);
}

static void print_csv_text(const char *text, FILE *out)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv(const struct table *t, FILE *out)
{
    for (uint32_t i = 0; i < t->n_columns; i++) {
        fputs(i > 0 ? "," : "", out);
        print_csv_text(t->columns[i].name, out);
    }
    fputc('\n', out);
    for (size_t k = 0; k < (size_t)table_n_rows(t) * t->n_columns; k++) {
        const struct cell *c = &t->cells[k];
        if (c->text != NULL)
            print_csv_text(c->text, out);
        else if (!isnan(c->number))
            print_number(c->number, out);
        fputc((k + 1) % t->n_columns == 0 ? '\n' : ',', out);
    }
}

static void print_json_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch == '"' || ch == '\\')
            fprintf(out, "\\%c", ch);
        else if (ch < 0x20)
            fprintf(out, "\\u%04x", ch);
        else
            fputc(ch, out);
    }
    fputc('"', out);
}

static void print_json(const struct table *t, FILE *out)
{
    fputs("[", out);
    for (size_t k = 0; k < (size_t)table_n_rows(t) * t->n_columns; k++) {
        const struct cell *c = &t->cells[k];
        uint32_t column = (uint32_t)(k % t->n_columns);
        fputs(column > 0 ? ", " : k > 0 ? "},\n {" : "\n {", out);
        print_json_text(t->columns[column].name, out);
        fputs(": ", out);
        if (c->text != NULL)
            print_json_text(c->text, out);
        else if (isfinite(c->number))
            print_number(c->number, out);
        else
            fputs("null", out);
    }
    fputs(table_n_rows(t) > 0 ? "}\n]\n" : "]\n", out);
}

bool table_print(const struct table *t, enum table_format format, FILE *out)
{
    if (t->is_short || t->arena.is_short)
        return false;
    switch (format) {
    case TABLE_FORMAT_CSV:
        print_csv(t, out);
        return true;
    case TABLE_FORMAT_JSON:
        print_json(t, out);
        return true;
    case TABLE_FORMAT_TEXT:
    case TABLE_FORMAT_MD:
    case TABLE_FORMAT_LATEX:
        break;
    }
    return print_people(t, format, out);
}
