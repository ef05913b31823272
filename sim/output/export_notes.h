/* export_notes.h - what an export says of itself: what its format cannot hold, by count. */
#ifndef OUTPUT_EXPORT_NOTES_H
#define OUTPUT_EXPORT_NOTES_H

#include <stdint.h>

enum { EXPORT_NOTES_MAX = 4 };

struct export_notes {
    uint32_t n;
    char text[EXPORT_NOTES_MAX][320]; /* a sentence each; the caller shows them */
};

#endif
