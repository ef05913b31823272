/* report_order.h - in which order tables and figures list runs, policies and the values of swept keys: that of the config.
 *
 *     /runs/position ──▶ a key's values in the order in which its config comes to them ──▶ one list a key over all files
 *
 * Files are taken one after the other, and within a file experiments by name; what a later one adds comes behind. Where no experiment
 * lists a key's values otherwise than ascending, the values of all are listed ascending, so that loads 0.7, 0.9 of one file and 0.8 of
 * another are 0.7, 0.8, 0.9. The same goes for files of older versions, which hold no positions.
 */
#ifndef OUTPUT_REPORT_ORDER_H
#define OUTPUT_REPORT_ORDER_H

#include "base/names.h"
#include "output/report_file.h"

struct order_key {
    const char *key;
    bool is_ascending;   /* report_value_compare is the order */
    struct names values; /* else: in order */
};

struct report_order {
    uint32_t n_keys;
    struct order_key *keys;
};

/* The keys that are no swept keys but have an order: the policies' labels. (What a sweep of `policy` says of each policy is the swept key
 * "policy".) */
#define REPORT_ORDER_LABEL "label"

/* From the runs of `files`, which may be closed afterwards. BRAID_FAILED when memory is out. `out` needs report_order_fini in any case. */
int report_order_init(struct report_order *out, const struct report_file *files, size_t n_files, struct error *err);
void report_order_fini(struct report_order *o);

/* The order of two values of a swept key or of two labels (REPORT_ORDER_LABEL): negative, 0 only for equal texts, positive. Values that no
 * run has come last, and those of a key that no file sweeps are ascending. */
int report_order_compare(const struct report_order *o, const char *key, const char *a, const char *b);

/* The order of two runs of one file: of the config; runs of no known position come last, by id. */
int report_order_runs(const struct report_run *a, const struct report_run *b);

/* Ascending: numbers, times and sizes by what they mean ("0.25" < "0.5", "30 min" < "2 h"), other texts naturally, in which numbers are
 * decimal ("las quantum=0.25" < "las quantum=0.5"). 0 only for equal texts. */
int report_value_compare(const char *a, const char *b);

#endif
