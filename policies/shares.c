#include "policies/shares.h"

#include "base/names.h"
#include "base/number.h"
#include "cluster/sheet.h"

#include <stdlib.h>
#include <string.h>

enum { NAME, PARENT, WEIGHT, GUARANTEE, COLUMNS };

static const char *const column_names[COLUMNS] = {"name", "parent", "weight", "guarantee"};

/* A row as it stands in the file, before its parent is known. */
struct raw_row {
    struct share_row row;
    const char *parent;
};

static int header_read(struct sheet *f)
{
    for (uint32_t k = 0; k < COLUMNS; k++)
        f->column[k] = sheet_header_find(f, column_names[k]);
    for (uint32_t i = 0; i < f->csv.n_fields; i++) {
        bool is_known = false;
        for (uint32_t k = 0; k < COLUMNS; k++)
            is_known |= f->column[k] == i;
        if (!is_known)
            return sheet_error(f, i, "a column", "each of name, parent, weight and guarantee at most once");
    }
    if (f->column[NAME] == UINT32_MAX)
        return error_at(f->err, BRAID_BAD_INPUT, f->shown, (int)f->csv.line, 0,
                        "there is no column 'name'; begin the file with a header as name,parent,weight,guarantee");
    return BRAID_OK;
}

/* The field of a column that may be missing or empty. */
static struct csv_field field_of(const struct sheet *f, uint32_t column)
{
    uint32_t at = f->column[column];
    return at < f->csv.n_fields ? sheet_field(f, at) : (struct csv_field){"", 0};
}

static int row_read(struct sheet *f, uint32_t n_columns, struct raw_row *r)
{
    if (f->csv.n_fields > n_columns)
        return error_at(
            f->err, BRAID_BAD_INPUT, f->shown, (int)f->csv.line, 0,
            "the row has %u fields, the header %u; put quotes around a name with a comma, or leave some out",
            f->csv.n_fields, n_columns);
    struct csv_field name = field_of(f, NAME), parent = field_of(f, PARENT), weight = field_of(f, WEIGHT),
                     guarantee = field_of(f, GUARANTEE);
    *r = (struct raw_row){.row = {.parent = SHARES_ROOT, .weight = 1, .guarantee = -1, .line = (int)f->csv.line}};
    if (name.n == 0)
        return error_at(f->err, BRAID_BAD_INPUT, f->shown, (int)f->csv.line, 0,
                        "the row has no name; give a user's, a virtual cluster's, or one of your own for a group");
    if (weight.n > 0 &&
        (!number_parse_double(weight.text, weight.n, &r->row.weight) || r->row.weight < 1e-6 || r->row.weight > 1e6))
        return sheet_error(f, f->column[WEIGHT], "the weight", "a number from 1e-6 to 1e6");
    if (guarantee.n > 0 && (!number_parse_i64(guarantee.text, guarantee.n, &r->row.guarantee) || r->row.guarantee < 0 ||
                            r->row.guarantee > INT32_MAX))
        return sheet_error(f, f->column[GUARANTEE], "the guarantee", "a whole number of GPUs from 0 to 2147483647");
    r->row.name = arena_text(f->arena, name.text, name.n);
    r->parent = arena_text(f->arena, parent.text, parent.n);
    return r->row.name != NULL && r->parent != NULL ? BRAID_OK : sheet_out_of_memory(f->err);
}

static int rows_read(struct sheet *f, struct raw_row **rows, uint32_t *n)
{
    bool has_row;
    uint32_t n_columns = 0;
    int status = csv_next(&f->csv, &has_row, f->err);
    if (status == BRAID_OK && !has_row)
        return error_at(f->err, BRAID_BAD_INPUT, f->shown, 0, 0,
                        "the file is empty; give the header name,parent,weight,guarantee and rows");
    if (status == BRAID_OK)
        status = header_read(f);
    n_columns = f->csv.n_fields;
    while (status == BRAID_OK) {
        struct raw_row r;
        status = csv_next(&f->csv, &has_row, f->err);
        if (status != BRAID_OK || !has_row)
            break;
        status = row_read(f, n_columns, &r);
        if (status != BRAID_OK)
            break;
        if ((*rows = sheet_append(f->arena, *rows, *n, sizeof r, &r)) == NULL)
            return sheet_out_of_memory(f->err);
        ++*n;
    }
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------ */

struct sort_item {
    const char *name;
    uint32_t parent, row;
};

static int compare_items(const void *a, const void *b)
{
    const struct sort_item *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    if (c != 0)
        return c;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int sort_names(struct shares *t, struct error *err)
{
    struct sort_item *items = malloc((t->n + (size_t)1) * sizeof *items);
    if (items == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < t->n; i++)
        items[i] = (struct sort_item){t->rows[i].name, t->rows[i].parent, i};
    qsort(items, t->n, sizeof *items, compare_items);
    for (uint32_t i = 0; i < t->n; i++)
        t->by_name[i] = items[i].row;
    free(items);
    return BRAID_OK;
}

/* The first place in by_name that is not before `name`. */
static uint32_t lower_bound(const struct shares *t, const char *name)
{
    uint32_t from = 0, to = t->n;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (strcmp(t->rows[t->by_name[mid]].name, name) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

uint32_t shares_find_below(const struct shares *t, const char *name, uint32_t ancestor)
{
    for (uint32_t at = lower_bound(t, name); at < t->n && strcmp(t->rows[t->by_name[at]].name, name) == 0; at++) {
        const struct share_row *r = &t->rows[t->by_name[at]];
        uint32_t up = r->parent;
        while (up != SHARES_ROOT && up != ancestor)
            up = t->rows[up].parent;
        if (up == ancestor && !r->is_parent)
            return t->by_name[at];
    }
    return SHARES_ROOT;
}

/* One of the rows of that name, SHARES_ROOT: none; *n_found: how many there are. */
static uint32_t find_any(const struct shares *t, const char *name, uint32_t *n_found)
{
    uint32_t at = lower_bound(t, name);
    *n_found = 0;
    while (at + *n_found < t->n && strcmp(t->rows[t->by_name[at + *n_found]].name, name) == 0)
        ++*n_found;
    return *n_found > 0 ? t->by_name[at] : SHARES_ROOT;
}

int shares_find(const struct shares *t, const char *name, bool has_jobs, uint32_t *row, struct error *err)
{
    uint32_t n_found;
    *row = find_any(t, name, &n_found);
    if (n_found > 1)
        return error_at(err, BRAID_BAD_INPUT, t->path, t->rows[*row].line, 0,
                        "'%s' stands under several parents, but its jobs are booked in one place; leave one row", name);
    if (n_found == 1 && has_jobs && t->rows[*row].is_parent)
        return error_at(err, BRAID_BAD_INPUT, t->path, t->rows[*row].line, 0,
                        "'%s' has jobs of its own and cannot be a parent; give the group another name", name);
    return BRAID_OK;
}

/* ---- the tree --------------------------------------------------------------------------------------- */

static int parents_find(struct shares *t, const struct raw_row *raw, struct error *err)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct share_row *r = &t->rows[i];
        uint32_t n_found;
        if (raw[i].parent[0] == '\0')
            continue;
        r->parent = find_any(t, raw[i].parent, &n_found);
        if (n_found != 1)
            return error_at(err, BRAID_BAD_INPUT, t->path, r->line, 0,
                            n_found == 0 ? "parent '%s' has no row of its own; add one, or leave the parent empty"
                                         : "parent '%s' stands in several rows; give each parent a name of its own",
                            raw[i].parent);
        t->rows[r->parent].is_parent = true;
    }
    return BRAID_OK;
}

static int tree_check(const struct shares *t, struct error *err)
{
    for (uint32_t i = 0; i < t->n; i++) {
        int depth = 1;
        for (uint32_t at = i; t->rows[at].parent != SHARES_ROOT; at = t->rows[at].parent)
            if (++depth > SHARES_DEPTH)
                return error_at(
                    err, BRAID_BAD_INPUT, t->path, t->rows[i].line, 0,
                    "'%s' lies more than %d levels below the root, or is its own ancestor; mend its parents",
                    t->rows[i].name, SHARES_DEPTH);
    }
    for (uint32_t i = 1; i < t->n; i++) {
        const struct share_row *a = &t->rows[t->by_name[i - 1]], *b = &t->rows[t->by_name[i]];
        if (a->parent == b->parent && strcmp(a->name, b->name) == 0)
            return error_at(err, BRAID_BAD_INPUT, t->path, b->line, 0,
                            "'%s' was given in line %d already; leave one of the two", b->name, a->line);
    }
    return BRAID_OK;
}

static int rows_take(struct shares *t, struct sched *s, const struct raw_row *raw, struct error *err)
{
    t->rows = sched_alloc(s, t->n + (size_t)1, sizeof *t->rows);
    t->by_name = sched_alloc(s, t->n + (size_t)1, sizeof *t->by_name);
    if (t->rows == NULL || t->by_name == NULL)
        return error_set(err, BRAID_FAILED, "out of memory");
    for (uint32_t i = 0; i < t->n; i++) {
        size_t length = strlen(raw[i].row.name) + 1;
        char *name = sched_alloc(s, length, 1);
        if (name == NULL)
            return error_set(err, BRAID_FAILED, "out of memory");
        t->rows[i] = raw[i].row;
        t->rows[i].name = memcpy(name, raw[i].row.name, length);
    }
    int status = sort_names(t, err); /* parents are looked up by name, … */
    if (status == BRAID_OK)
        status = parents_find(t, raw, err);
    if (status == BRAID_OK)
        status = sort_names(t, err); /* … then all by name and parent */
    return status == BRAID_OK ? tree_check(t, err) : status;
}

int shares_load(struct shares *t, struct sched *s, const char *path, struct error *err)
{
    *t = (struct shares){.path = path};
    if (path[0] == '\0')
        return BRAID_OK;
    struct arena text;
    struct sheet f;
    struct raw_row *raw = NULL;
    arena_init(&text);
    int status = sheet_open(&f, path, NULL, &text, err);
    if (status == BRAID_OK) {
        status = rows_read(&f, &raw, &t->n);
        sheet_close(&f);
    }
    if (status == BRAID_OK)
        status = rows_take(t, s, raw, err);
    arena_fini(&text);
    return status;
}

/* ---- whom rows name ---------------------------------------------------------------------------------- */

/* The names of the trace that rows may be. */
struct people {
    struct names users, vcs;
};

static bool names_take(struct names *n, const struct sched *s, const char *(*name)(const struct sched *, uint32_t),
                       uint32_t count)
{
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = names_add(n, name(s, i), strlen(name(s, i))) != NAMES_NONE;
    return ok;
}

static bool is_among(const struct names *n, const char *name)
{
    return names_find(n, name, strlen(name)) != NAMES_NONE;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Do the names differ by one letter, or by two that changed places? Names that differ in digits are numbered, and in short ones a letter is much. */
static bool is_slip(const char *a, const char *b)
{
    enum { SHORT = 4 };
    size_t na = strlen(a), nb = strlen(b), at = 0;
    if (na < nb)
        return is_slip(b, a);
    if (nb < SHORT || na > nb + 1)
        return false;
    while (at < nb && a[at] == b[at])
        at++;
    if (na > nb)
        return !is_digit(a[at]) && strcmp(a + at + 1, b + at) == 0;
    if (at == nb || (is_digit(a[at]) && is_digit(b[at])))
        return false;
    return strcmp(a + at + 1, b + at + 1) == 0 ||
           (a[at] == b[at + 1] && a[at + 1] == b[at] && strcmp(a + at + 2, b + at + 2) == 0);
}

/* Somebody without a row whose name is nearly `name`, or NULL. */
static const char *meant(const struct shares *t, const struct names *among, const char *name)
{
    for (uint32_t i = 0; i < among->count; i++) {
        const char *other = names_text(among, i);
        uint32_t n_found;
        if (is_slip(name, other) && find_any(t, other, &n_found) == SHARES_ROOT)
            return other;
    }
    return NULL;
}

static int rows_check(const struct shares *t, const struct people *p, enum shares_of of, struct error *err)
{
    static const char *const whom[] = {"user", "virtual cluster", "virtual cluster or user"};
    uint32_t n_known = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct share_row *r = &t->rows[i];
        if (r->is_parent && of != SHARES_OF_BOTH)
            continue;
        if (is_among(&p->vcs, r->name) || is_among(&p->users, r->name)) {
            n_known++;
            continue;
        }
        const char *other = meant(t, &p->vcs, r->name);
        if (other == NULL)
            other = meant(t, &p->users, r->name);
        if (other != NULL)
            return error_at(
                err, BRAID_BAD_INPUT, t->path, r->line, 0,
                "no job of the trace is of '%s', and '%s' has no row; mend the name, or give '%s' a row too", r->name,
                other, other);
    }
    if (n_known == 0)
        return error_at(err, BRAID_BAD_INPUT, t->path, 0, 0,
                        "no row names a %s of the trace, so nothing of the file would count; mend the names", whom[of]);
    return BRAID_OK;
}

int shares_check(const struct shares *t, const struct sched *s, enum shares_of of, struct error *err)
{
    struct people p;
    if (t->n == 0)
        return BRAID_OK;
    names_init(&p.users);
    names_init(&p.vcs);
    bool ok = (of == SHARES_OF_VCS || names_take(&p.users, s, sched_user_name, sched_n_users(s))) &&
              (of == SHARES_OF_USERS || names_take(&p.vcs, s, sched_vc_name, sched_n_vcs(s)));
    int status = ok ? rows_check(t, &p, of, err) : error_set(err, BRAID_FAILED, "out of memory");
    names_fini(&p.users);
    names_fini(&p.vcs);
    return status;
}
