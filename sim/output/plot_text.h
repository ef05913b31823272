/* plot_text.h - texts of users on their way into a picture: which characters can be drawn, how wide they are, where to break them.
 *
 * A *cell* is the width of an average character; those of East Asia take two.
 */
#ifndef OUTPUT_PLOT_TEXT_H
#define OUTPUT_PLOT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Which characters some font has: asked of fontconfig's fc-list, once, when a text has a character that not every font has. */
struct plot_fonts {
    bool draws_all; /* the picture holds the text itself, and its viewer has the fonts */
    bool is_asked, has_missing;
    uint8_t *known; /* a bit a character; NULL: cannot be told */
};
void plot_fonts_fini(struct plot_fonts *f);

/* A line break that braid puts into a text; line breaks of users are spaces. */
#define PLOT_BREAK '\x1e'

/* The one way of a text into a script: a gnuplot string in double quotes, in which every byte that any part of gnuplot could take as more
 * than text is an octal escape, so that nothing is run, replaced or taken as markup. For labels and titles alone: the label of a tick is to
 * gnuplot a format of numbers, even with '%' doubled (canvas_tick draws those). Control characters and line ends become spaces, marks
 * of direction vanish, bytes that are no UTF-8 and characters that no font has become '?' (and f->has_missing). `f` NULL: all can be drawn. */
void plot_text_quote(FILE *out, struct plot_fonts *f, const char *text);

size_t plot_text_cells(const char *text); /* of the widest line */

/* `text` into `out`, with breaks where a line would be wider than `cells`, after a blank or a mark where there is one; what is beyond
 * `max_lines` is cut with "…". Returns the number of lines. */
unsigned plot_text_wrap(char *out, size_t size, const char *text, size_t cells, unsigned max_lines);

/* `text` into `out`, cut in its middle by "…" where it is wider than `cells`. */
void plot_text_shorten(char *out, size_t size, const char *text, size_t cells);

/* `text` as a part of a file's name, of at most `most` bytes: letters, digits and "-_.=" stay, others become '_'. Where that or the length
 * changed anything, "-" and 8 digits of a hash of the text follow, so that two texts never give one name. */
void plot_text_file_name(char *out, size_t most, const char *text);

#endif
