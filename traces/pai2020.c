/* Alibaba PAI, 2020: tables without a header (docs/formats/pai2020.md). A row of pai_task_table, a gang of equal instances, is a job; its
 * submission and user come from pai_job_table, where that is in the same folder.
 *
 *      pai_task_table  job, task, instances, …, start, end, GPUs of one, type     pai_job_table  job, …, user, …, submission, …
 *                       └──────────────────────────── job ─────────────────────────────────────────┘
 */
#include "base/number.h"
#include "traces/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASK_HEADER "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type"
#define JOB_HEADER "job_name,inst_id,user,status,start_time,end_time"
#define BYTES_PER_GB INT64_C(1000000000)
enum { MILLI_PER_PERCENT = 10, TASK_FIELDS = 10, JOB_FIELDS = 6 };

static const struct csv_column columns[] = {
    {"job_name", OF_ID, COLUMN_TELLS, 0},
    {"start_time", OF_START, COLUMN_REQUIRED, NS_PER_S},
    {"end_time", OF_END, COLUMN_REQUIRED, NS_PER_S},
    {"plan_gpu", OF_GPU_PERCENT, COLUMN_REQUIRED, 0},
    {"inst_num", OF_COPIES, COLUMN_REQUIRED, 0},
    {"task_name", OF_NAME, COLUMN_TELLS, 0},
    {"gpu_type", OF_GPU_TYPE, COLUMN_OPTIONAL, 0},
    {"status", OF_STATUS, COLUMN_OPTIONAL, 0},
    {"plan_cpu", OF_CPUS, COLUMN_OPTIONAL, MILLI_PER_PERCENT},
    {"plan_mem", OF_MEMORY, COLUMN_OPTIONAL, BYTES_PER_GB},
};

static const struct csv_column job_columns[] = {
    {"job_name", OF_ID, COLUMN_TELLS, 0},
    {"inst_id", OF_NOTHING, COLUMN_TELLS, 0},
    {"user", OF_USER, COLUMN_TELLS, 0},
    {"status", OF_STATUS, COLUMN_TELLS, 0},
    {"start_time", OF_SUBMIT, COLUMN_TELLS, NS_PER_S},
};

static const struct csv_status statuses[] = {
    {"Terminated", TRACE_PASSED}, {"Failed", TRACE_FAILED},   {"Interrupted", TRACE_KILLED},
    {"Running", TRACE_UNKNOWN},   {"Waiting", TRACE_UNKNOWN}, {NULL, TRACE_UNKNOWN},
};

/* ---- the table of jobs beside the file ------------------------------------------------------------------------------ */

struct jobs {
    char *path;
    struct names names, users;
    int64_t *submit_ns; /* by name; WORKLOAD_ABSENT: not known */
    uint32_t *user;     /* by name */
    uint32_t room;
};

static int no_memory(const struct jobs *j, struct error *err)
{
    return error_at(err, BRAID_FAILED, j->path, 0, 0, "out of memory for the table of jobs");
}

/* The path of the table of jobs in the folder of `file`, to be freed, or NULL: there is none, or (`*is_short`) no memory. */
static char *find_beside(const char *file, bool *is_short)
{
    static const char *const names[] = {"pai_job_table.csv", "pai_job_table.csv.gz"};
    const char *slash = strrchr(file, '/');
    size_t folder_n = slash != NULL ? (size_t)(slash - file) + 1 : 0;
    char *path = malloc(folder_n + 32);
    *is_short = path == NULL;
    for (int i = 0; path != NULL && i < 2; i++) {
        memcpy(path, file, folder_n);
        snprintf(path + folder_n, 32, "%s", names[i]);
        if (access(path, R_OK) == 0)
            return path;
    }
    free(path);
    return NULL;
}

static bool jobs_grow(struct jobs *j)
{
    uint32_t room = j->room * 2 + 1024;
    int64_t *submit_ns = realloc(j->submit_ns, room * sizeof *submit_ns);
    if (submit_ns != NULL)
        j->submit_ns = submit_ns;
    uint32_t *user = realloc(j->user, room * sizeof *user);
    if (user != NULL)
        j->user = user;
    if (submit_ns == NULL || user == NULL)
        return false;
    j->room = room;
    return true;
}

/* Of several rows with one name the earliest submission counts, so that their order does not. */
static int jobs_add(struct jobs *j, const struct csv *csv, struct error *err)
{
    const struct csv_field name = csv->fields[0], user = csv->fields[2], start = csv->fields[4];
    int64_t submit_ns;
    if (!number_parse_scaled(start.text, start.n, NS_PER_S, &submit_ns) || submit_ns <= 0)
        submit_ns = WORKLOAD_ABSENT;
    uint32_t known = j->names.count, id = names_add(&j->names, name.text, name.n);
    uint32_t user_id = names_add(&j->users, user.text, user.n);
    if (id == NAMES_NONE || user_id == NAMES_NONE || (id >= j->room && !jobs_grow(j)))
        return no_memory(j, err);
    bool is_later = id < known && (submit_ns == WORKLOAD_ABSENT ||
                                   (j->submit_ns[id] != WORKLOAD_ABSENT && j->submit_ns[id] <= submit_ns));
    if (is_later)
        return BRAID_OK;
    j->submit_ns[id] = submit_ns;
    j->user[id] = user_id;
    return BRAID_OK;
}

static int jobs_read(struct jobs *j, struct error *err)
{
    struct source source;
    struct csv csv = {0};
    int code = source_open(&source, j->path, j->path, err);
    if (code == BRAID_OK)
        code = csv_init(&csv, &source, err);
    for (bool has_row = true, is_first = true; code == BRAID_OK; is_first = false) {
        code = csv_next(&csv, &has_row, err);
        if (code != BRAID_OK || !has_row)
            break;
        bool is_header = is_first && csv.fields[0].n == 8 && memcmp(csv.fields[0].text, "job_name", 8) == 0;
        if (rows_judge_fields(csv.n_fields, JOB_FIELDS, 0) != ROW_FINE)
            code = error_at(err, BRAID_BAD_INPUT, j->path, (int)csv.line, 0,
                            "%u fields, but a row of a table of jobs has " JOB_HEADER
                            "; mend it, or move the file away if it is none",
                            csv.n_fields);
        else if (!is_header)
            code = jobs_add(j, &csv, err);
    }
    csv_fini(&csv);
    source_close(&source);
    return code;
}

static void end(struct trace_input *in)
{
    struct jobs *j = in->joined;
    if (j == NULL)
        return;
    names_fini(&j->names);
    names_fini(&j->users);
    free(j->submit_ns);
    free(j->user);
    free(j->path);
    free(j);
    in->joined = NULL;
}

static int begin(struct trace_input *in, struct rows_columns *has, struct error *err)
{
    bool is_short;
    char *path = find_beside(in->file, &is_short);
    struct jobs *j = path != NULL ? calloc(1, sizeof *j) : NULL;
    if (is_short || (path != NULL && j == NULL)) {
        free(path);
        return error_at(err, BRAID_FAILED, in->path, 0, 0, "out of memory");
    }
    if (j == NULL)
        return BRAID_OK;
    j->path = path;
    names_init(&j->names);
    names_init(&j->users);
    in->joined = j;
    has->user = true;
    return jobs_read(j, err);
}

/* ---- a row of the table of tasks -------------------------------------------------------------------------------------- */

static void join(struct trace_row *row, const struct jobs *j)
{
    uint32_t id = names_find(&j->names, row->id.at, row->id.n);
    row->is_joined = id != NAMES_NONE && j->submit_ns[id] != WORKLOAD_ABSENT;
    row->is_not_joined = !row->is_joined;
    if (row->is_joined)
        row->submit_ns = j->submit_ns[id];
    if (id == NAMES_NONE)
        return;
    const char *user = names_text(&j->users, j->user[id]);
    row->user = (struct trace_text){user, strlen(user)};
}

static void finish(struct trace_row *row, const struct trace_input *in)
{
    int64_t copies = row->copies != WORKLOAD_ABSENT ? row->copies : 1, cpu_milli;
    row->submit_ns = row->start_ns;
    if (in->joined != NULL)
        join(row, in->joined);
    if (row->gpus_milli != WORKLOAD_ABSENT && __builtin_mul_overflow(row->gpus_milli, copies, &row->gpus_milli))
        row->fault = ROW_BAD_NUMBER;
    cpu_milli = __builtin_mul_overflow((int64_t)row->cpu_milli, copies, &cpu_milli) ? INT64_MAX : cpu_milli;
    row->cpu_milli = cpu_milli <= UINT32_MAX ? (uint32_t)cpu_milli : UINT32_MAX;
    if (__builtin_mul_overflow(row->mem_kib, (uint64_t)copies, &row->mem_kib))
        row->mem_kib = UINT64_MAX;
    if (row->fault == ROW_FINE && row->gpus_milli > 0 && row->start_ns != WORKLOAD_ABSENT &&
        row->end_ns == WORKLOAD_ABSENT)
        row->fault = ROW_STILL_RUNNING;
}

/* ---- which table a file is -------------------------------------------------------------------------------------------- */

static bool is_status(const char *text, size_t n)
{
    for (const struct csv_status *s = statuses; s->text != NULL; s++)
        if (strlen(s->text) == n && memcmp(s->text, text, n) == 0)
            return true;
    return false;
}

static bool is_number_or_empty(const char *text, size_t n)
{
    double v;
    return n == 0 || number_parse_double(text, n, &v);
}

/* `fields` of them, the fourth a status, the fifth and sixth times. */
static bool is_table(const char *row, size_t n, unsigned fields)
{
    const char *at[TASK_FIELDS + 1] = {row};
    unsigned k = 1;
    for (size_t i = 0; i < n; i++)
        if (row[i] == ',' && k++ < TASK_FIELDS)
            at[k - 1] = row + i + 1;
    if (k != fields)
        return false;
    at[k] = row + n + 1;
    return is_status(at[3], (size_t)(at[4] - at[3]) - 1) && is_number_or_empty(at[4], (size_t)(at[5] - at[4]) - 1) &&
           is_number_or_empty(at[5], (size_t)(at[6] - at[5]) - 1);
}

static bool is_task(const char *row, size_t n)
{
    return is_table(row, n, TASK_FIELDS);
}

static bool is_job(const char *row, size_t n)
{
    return is_table(row, n, JOB_FIELDS);
}

static int refuse_jobs(struct trace_input *in, struct rows_columns *has, struct error *err)
{
    (void)has;
    return error_at(
        err, BRAID_BAD_INPUT, in->path, 0, 0,
        "the PAI table of jobs does not say how many GPUs a job has; read pai_task_table.csv, with this file "
        "beside it as pai_job_table.csv");
}

#define TASKS                                                                                                          \
    .columns = columns, .n_columns = sizeof columns / sizeof columns[0], .statuses = statuses, .finish = finish,       \
    .zero_is_missing = true, .begin = begin, .end = end
#define JOBS .columns = job_columns, .n_columns = sizeof job_columns / sizeof job_columns[0], .begin = refuse_jobs

static const struct csv_format jobs_with_header = {JOBS};
static const struct csv_format jobs = {JOBS, .header = JOB_HEADER, .is_row = is_job, .next = &jobs_with_header};
static const struct csv_format tasks_with_header = {TASKS, .next = &jobs};
static const struct csv_format tasks = {TASKS, .header = TASK_HEADER, .is_row = is_task, .next = &tasks_with_header};

static const struct trace_wording wording[] = {
    {ROW_STILL_RUNNING, "has a start and no end, so its run time is not known"},
    {ROW_NO_SUBMIT, "no start, and no submission in a table of jobs beside the file"},
    {ROW_NO_DURATION, "no start or no end"},
    {ROW_FINE, NULL},
};

const struct trace_reader reader_pai2020 = {
    .name = "pai2020",
    .summary =
        "Alibaba PAI 2020, pai_task_table without a header: " TASK_HEADER "; joined with pai_job_table beside it",
    .csv = &tasks,
    .wording = wording,
};
