#include "policies/user_weights.h"

#include "base/number.h"

#include <string.h>

static const double MOST = 1e6;

static void trim(const char **text, size_t *n)
{
    while (*n > 0 && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*n;
    }
    while (*n > 0 && ((*text)[*n - 1] == ' ' || (*text)[*n - 1] == '\t'))
        --*n;
}

static bool find_user(const struct sched *s, const char *name, size_t n, uint32_t *out)
{
    for (*out = 0; *out < sched_n_users(s); ++*out) {
        const char *user = sched_user_name(s, *out);
        if (strlen(user) == n && memcmp(user, name, n) == 0)
            return true;
    }
    return false;
}

/* One "name=weight"; `others` is what * says, 0: nothing yet. */
static int take_weight(double *weights, double *others, const struct sched *s, const char *text, size_t n,
                       struct error *err)
{
    size_t split = n;
    while (split > 0 && text[split - 1] != '=') /* the last one: names may have it too */
        split--;
    const char *name = text, *number = text + split;
    size_t name_n = split > 0 ? split - 1 : 0, number_n = n - split;
    trim(&name, &name_n);
    trim(&number, &number_n);
    double weight;
    uint32_t user = 0;
    if (split == 0 || name_n == 0 || !number_parse_double(number, number_n, &weight) || !(weight > 0 && weight <= MOST))
        return error_set(err, BRAID_BAD_INPUT,
                         "weights: '%.*s' is no weight of a user; write name=number with a number above 0 and up to %g",
                         (int)n, text, MOST);
    bool is_all = name_n == 1 && name[0] == '*';
    if (!is_all && !find_user(s, name, name_n, &user))
        return error_set(err, BRAID_BAD_INPUT, "weights: no job of the trace is of user '%.*s'; leave it out, or use *",
                         (int)name_n, name);
    double *to = is_all ? others : &weights[user];
    if (*to != 0)
        return error_set(err, BRAID_BAD_INPUT, "weights: '%.*s' is given twice", (int)name_n, name);
    *to = weight;
    return BRAID_OK;
}

int user_weights_load(double **out, struct sched *s, const char *text, struct error *err)
{
    uint32_t n_users = sched_n_users(s);
    double *weights = sched_alloc(s, n_users, sizeof *weights), others = 0;
    if (weights == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    while (*text != '\0') {
        const char *item = text;
        size_t length = strcspn(text, ","), n = length;
        text += length + (text[length] == ',');
        trim(&item, &n);
        int code = n > 0 ? take_weight(weights, &others, s, item, n, err) : BRAID_OK;
        if (code != BRAID_OK)
            return code;
    }
    for (uint32_t u = 0; u < n_users; u++)
        weights[u] = weights[u] != 0 ? weights[u] : others != 0 ? others : 1;
    *out = weights;
    return BRAID_OK;
}
