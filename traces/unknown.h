/* unknown.h - what to say of a file that no reader takes: what it is, or which format is nearest and what it lacks. */
#ifndef TRACES_UNKNOWN_H
#define TRACES_UNKNOWN_H

#include "traces/reader.h"

/* Refuse what is no text at all, or text with line ends that no reader knows; BRAID_OK for the rest. `csv` stands at the first byte. */
int unknown_check_bytes(const struct trace_input *in, struct error *err);

/* JSON that is no format's: `text` begins at its first bracket. Returns BRAID_BAD_INPUT. */
int unknown_json(const struct trace_input *in, const char *text, size_t n, struct error *err);

/* A first row, behind which in->csv stands, that no format has. Returns BRAID_BAD_INPUT. */
int unknown_header(const struct trace_input *in, struct error *err);

#endif
