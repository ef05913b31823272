/* policy_docs.h - the descriptors of policies, parts and placements as text: for `braid policy` and docs/policies.md. */
#ifndef CLI_POLICY_DOCS_H
#define CLI_POLICY_DOCS_H

#include <braid/policy.h>
#include <stdio.h>

/* "estimate, deadline", or "-" for nothing. Returns `out`. */
const char *policy_knows_text(uint32_t knows, char *out, size_t size);

/* "whole number", "time", … */
const char *param_type_text(enum param_type type);

/* "one of a, b", "0 to 10 (s)", or "" where all values are allowed. Returns `out`. */
const char *param_range_text(const struct param_spec *p, char *out, size_t size);

/* docs/policies.md. */
void policy_write_docs(FILE *out);

#endif
