#include "traces/slurm_resources.h"

#include "base/number.h"

#include <string.h>

bool slurm_memory_parse(struct trace_text f, uint64_t *out_kib)
{
    static const char letters[] = "KMGTP";
    int64_t scale = 1024, kib;
    if (f.n > 0 && (f.at[f.n - 1] < '0' || f.at[f.n - 1] > '9')) {
        const char *letter = memchr(letters, f.at[f.n - 1], sizeof letters - 1);
        if (letter == NULL)
            return false;
        scale = INT64_C(1) << (10 * (letter - letters));
        f.n--;
    }
    if (!number_parse_scaled(f.at, f.n, scale, &kib) || kib < 0)
        return false;
    *out_kib = (uint64_t)kib;
    return true;
}

/* The next entry, up to a comma or blank outside of brackets; `at` moves behind it. */
static bool next_entry(struct trace_text list, size_t *at, struct trace_text *entry)
{
    while (*at < list.n) {
        size_t from = *at, depth = 0, i = from;
        for (; i < list.n && ((list.at[i] != ',' && list.at[i] != ' ') || depth > 0); i++)
            depth += list.at[i] == '(' || list.at[i] == '['                  ? 1
                     : (list.at[i] == ')' || list.at[i] == ']') && depth > 0 ? (size_t)-1
                                                                             : 0;
        *at = i + 1;
        *entry = (struct trace_text){list.at + from, i - from};
        if (entry->n > 0)
            return true;
    }
    return false;
}

/* "NAME:TYPE=COUNT", "NAME:TYPE:COUNT(S:0-1)", "NAME:COUNT", "NAME": its three parts; false: it does not begin with `name`. */
static bool split_entry(struct trace_text entry, const char *name, struct trace_text *type, struct trace_text *count)
{
    static const char one[] = "1";
    size_t n = strlen(name);
    const char *bracket = memchr(entry.at, '(', entry.n);
    if (bracket != NULL)
        entry.n = (size_t)(bracket - entry.at);
    if (entry.n > 5 && memcmp(entry.at, "gres:", 5) == 0 && strncmp(name, "gres", 4) != 0) {
        entry.at += 5;
        entry.n -= 5;
    }
    if (entry.n < n || memcmp(entry.at, name, n) != 0 || (entry.n > n && entry.at[n] != '=' && entry.at[n] != ':'))
        return false;
    *type = (struct trace_text){NULL, 0};
    *count = (struct trace_text){one, 1};
    if (entry.n == n)
        return true;
    struct trace_text rest = {entry.at + n + 1, entry.n - n - 1};
    if (entry.at[n] == '=') {
        *count = rest;
        return true;
    }
    const char *cut = memchr(rest.at, '=', rest.n);
    for (size_t i = rest.n; cut == NULL && i-- > 0;)
        if (rest.at[i] == ':')
            cut = rest.at + i;
    if (cut != NULL) {
        *type = (struct trace_text){rest.at, (size_t)(cut - rest.at)};
        *count = (struct trace_text){cut + 1, rest.n - type->n - 1};
    } else if (rest.n > 0 && rest.at[0] >= '0' && rest.at[0] <= '9') {
        *count = rest;
    } else {
        *type = rest;
    }
    return true;
}

struct resource_amount resource_find(struct trace_text list, const char *name, int64_t scale)
{
    struct resource_amount total = {.type = {NULL, 0}}, typed = {.type = {NULL, 0}};
    struct trace_text entry, type, count;
    bool has_types = false;
    for (size_t at = 0; next_entry(list, &at, &entry);) {
        if (!split_entry(entry, name, &type, &count))
            continue;
        struct resource_amount *to = type.n > 0 ? &typed : &total;
        int64_t part;
        bool is_good = number_parse_scaled(count.at, count.n, scale, &part) && part >= 0 &&
                       !__builtin_add_overflow(to->sum, part, &to->sum);
        to->is_named = true;
        to->is_bad |= !is_good;
        to->text = count;
        if (type.n == 0)
            continue;
        bool is_same = !has_types || (typed.type.n == type.n && memcmp(typed.type.at, type.at, type.n) == 0);
        typed.type = is_same ? type : (struct trace_text){NULL, 0};
        has_types = true;
    }
    if (!total.is_named) /* the sum over the types, where the total is not named */
        return typed;
    if (typed.is_named && typed.sum == total.sum)
        total.type = typed.type;
    total.is_bad |= typed.is_bad;
    return total;
}

struct slurm_resources slurm_resources_parse(struct trace_text list)
{
    struct slurm_resources r = {.gpus = WORKLOAD_ABSENT, .cpu_milli = WORKLOAD_ABSENT};
    struct trace_text entry;
    for (size_t at = 0; next_entry(list, &at, &entry);)
        r.is_bad_optional |= memchr(entry.at, '=', entry.n) == NULL;
    const struct resource_amount gpus = resource_find(list, "gres/gpu", 1000), cpus = resource_find(list, "cpu", 1000);
    const struct resource_amount memory = resource_find(list, "mem", 1);
    if (gpus.is_named) {
        r.gpus = gpus.sum / 1000;
        r.type = gpus.type;
        r.is_bad |= gpus.is_bad || gpus.sum % 1000 != 0;
    }
    if (cpus.is_named && !cpus.is_bad)
        r.cpu_milli = cpus.sum;
    r.is_bad_optional |= cpus.is_named && cpus.is_bad;
    r.is_bad_optional |= memory.is_named && !slurm_memory_parse(memory.text, &r.mem_kib);
    return r;
}
