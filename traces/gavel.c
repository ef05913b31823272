/* Traces of the Gavel scheduler (OSDI 2020) and of its descendants: rows of tab-separated fields without a header, told apart by their
 * number (docs/formats/gavel.md).
 *
 * Work is in steps. Only the layout of 12 fields says how long a job runs; in the others the run time is steps / rate, the rate of the job's
 * type on V100s being what the authors' generators multiplied a drawn run time by. A table of applications can bring other rates.
 */
#include "base/number.h"
#include "traces/reader.h"

#include <string.h>

/* The older layout. The rate of one V100 whatever the GPUs: in the trace of VC 103959 the steps of every row are so many times the duration
 * that ElasticFlow's trace of the same jobs has (philly_103959.csv; 726 rows told by their arrival, seven digits). */
static const struct application rates_of_7[] = {
    {"ResNet-18", 0, 16, 0, 77.31737},
    {"ResNet-18", 0, 32, 0, 65.80541},
    {"ResNet-18", 0, 64, 0, 48.88418},
    {"ResNet-18", 0, 128, 0, 30.2875},
    {"ResNet-18", 0, 256, 0, 16.98737},
    {"ResNet-50", 0, 16, 0, 17.37439},
    {"ResNet-50", 0, 32, 0, 9.920583},
    {"ResNet-50", 0, 64, 0, 5.457599},
    {"ResNet-50", 0, 128, 0, 2.84598},
    {"Transformer", 0, 16, 0, 12.84565},
    {"Transformer", 0, 32, 0, 12.47528},
    {"Transformer", 0, 64, 0, 9.568024},
    {"Transformer", 0, 128, 0, 5.771211},
    {"Transformer", 0, 256, 0, 1.70703},
    {"LM", 0, 5, 0, 167.1229},
    {"LM", 0, 10, 0, 143.3605},
    {"LM", 0, 20, 0, 107.9509},
    {"LM", 0, 40, 0, 71.72304},
    {"LM", 0, 80, 0, 43.90361},
    {"Recommendation", 0, 512, 0, 0.3314816},
    {"Recommendation", 0, 1024, 0, 0.4799796},
    {"Recommendation", 0, 2048, 0, 0.5675315},
    {"Recommendation", 0, 4096, 0, 0.6244084},
    {"Recommendation", 0, 8192, 0, 0.6023547},
    {"A3C", 0, 0, 0, 8.233034},
    {"CycleGAN", 0, 0, 0, 4.918495},
    {NULL, 0, 0, 0, 0},
};

/* The present layout: worker type v100, alone ("null"), of scheduler/oracle_throughputs_v3.json (stanford-futuredata/gavel, commit e0d104a8,
 * MIT), by scale factor. Recommendation, A3C and CycleGAN run on one GPU only. */
static const struct application rates_of_10[] = {
    {"ResNet-18", 1, 16, 0, 32.3534},
    {"ResNet-18", 2, 16, 0, 100.142},
    {"ResNet-18", 4, 16, 0, 123.854},
    {"ResNet-18", 8, 16, 0, 382.597},
    {"ResNet-18", 1, 32, 0, 29.9472},
    {"ResNet-18", 2, 32, 0, 94.2489},
    {"ResNet-18", 4, 32, 0, 114.733},
    {"ResNet-18", 8, 32, 0, 340.038},
    {"ResNet-18", 1, 64, 0, 24.0932},
    {"ResNet-18", 2, 64, 0, 74.1359},
    {"ResNet-18", 4, 64, 0, 95.5881},
    {"ResNet-18", 8, 64, 0, 255.829},
    {"ResNet-18", 1, 128, 0, 22.3716},
    {"ResNet-18", 2, 128, 0, 23.9854},
    {"ResNet-18", 4, 128, 0, 69.9505},
    {"ResNet-18", 8, 128, 0, 162.092},
    {"ResNet-18", 1, 256, 0, 11.9493},
    {"ResNet-18", 2, 256, 0, 15.8828},
    {"ResNet-18", 4, 256, 0, 27.7821},
    {"ResNet-18", 8, 256, 0, 81.5066},
    {"ResNet-50", 1, 16, 0, 12.2169},
    {"ResNet-50", 2, 16, 0, 13.8598},
    {"ResNet-50", 4, 16, 0, 23.1956},
    {"ResNet-50", 8, 16, 0, 27.7991},
    {"ResNet-50", 1, 32, 0, 7.93037},
    {"ResNet-50", 2, 32, 0, 10.8346},
    {"ResNet-50", 4, 32, 0, 13.7632},
    {"ResNet-50", 8, 32, 0, 24.0674},
    {"ResNet-50", 1, 64, 0, 4.52576},
    {"ResNet-50", 2, 64, 0, 7.92205},
    {"ResNet-50", 4, 64, 0, 9.45195},
    {"ResNet-50", 8, 64, 0, 17.3032},
    {"ResNet-50", 1, 128, 0, 2.53011},
    {"ResNet-50", 2, 128, 0, 4.22301},
    {"ResNet-50", 4, 128, 0, 7.02929},
    {"ResNet-50", 8, 128, 0, 10.2932},
    {"Transformer", 1, 16, 0, 11.0641},
    {"Transformer", 2, 16, 0, 14.1538},
    {"Transformer", 4, 16, 0, 20.085},
    {"Transformer", 8, 16, 0, 71.6517},
    {"Transformer", 1, 32, 0, 9.68286},
    {"Transformer", 2, 32, 0, 13.328},
    {"Transformer", 4, 32, 0, 22.8225},
    {"Transformer", 8, 32, 0, 63.9777},
    {"Transformer", 1, 64, 0, 8.20956},
    {"Transformer", 2, 64, 0, 15.8765},
    {"Transformer", 4, 64, 0, 19.6596},
    {"Transformer", 8, 64, 0, 49.6507},
    {"Transformer", 1, 128, 0, 5.6422},
    {"Transformer", 2, 128, 0, 10.0692},
    {"Transformer", 4, 128, 0, 14.1745},
    {"Transformer", 8, 128, 0, 30.8835},
    {"Transformer", 1, 256, 0, 1.59514},
    {"Transformer", 2, 256, 0, 2.88524},
    {"Transformer", 4, 256, 0, 4.76305},
    {"Transformer", 8, 256, 0, 9.71702},
    {"LM", 1, 5, 0, 114.111},
    {"LM", 2, 5, 0, 185.724},
    {"LM", 4, 5, 0, 126.716},
    {"LM", 8, 5, 0, 698.773},
    {"LM", 1, 10, 0, 81.6516},
    {"LM", 2, 10, 0, 163.129},
    {"LM", 4, 10, 0, 121.478},
    {"LM", 8, 10, 0, 615.093},
    {"LM", 1, 20, 0, 64.7425},
    {"LM", 2, 20, 0, 132.174},
    {"LM", 4, 20, 0, 110.997},
    {"LM", 8, 20, 0, 497.295},
    {"LM", 1, 40, 0, 50.049},
    {"LM", 2, 40, 0, 91.5927},
    {"LM", 4, 40, 0, 96.0312},
    {"LM", 8, 40, 0, 359.307},
    {"LM", 1, 80, 0, 31.6896},
    {"LM", 2, 80, 0, 58.0915},
    {"LM", 4, 80, 0, 74.8073},
    {"LM", 8, 80, 0, 231.176},
    {"Recommendation", 1, 512, 0, 253.63},
    {"Recommendation", 1, 1024, 0, 150.539},
    {"Recommendation", 1, 2048, 0, 88.207},
    {"Recommendation", 1, 4096, 0, 45.8499},
    {"Recommendation", 1, 8192, 0, 22.2468},
    {"A3C", 1, 0, 0, 7.47962},
    {"CycleGAN", 1, 0, 0, 4.73559},
    {NULL, 0, 0, 0, 0},
};

static const struct csv_column columns[] = {
    {"arrival_time", OF_SUBMIT, COLUMN_REQUIRED, NS_PER_S},
    {"scale_factor", OF_GPUS, COLUMN_REQUIRED, 0},
    {"total_steps", OF_ITERATIONS, COLUMN_REQUIRED, 0},
    {"job_type", OF_MODEL, COLUMN_REQUIRED, 0},
    {"duration", OF_DURATION, COLUMN_OPTIONAL, NS_PER_S},
    {"priority_weight", OF_PRIORITY, COLUMN_OPTIONAL, 0},
    {"SLO", OF_SLO, COLUMN_OPTIONAL, 0},
    {"command", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"working_directory", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"num_steps_arg", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"needs_data_dir", OF_NOTHING, COLUMN_OPTIONAL, 0},
    {"mode", OF_NOTHING, COLUMN_OPTIONAL, 0},
};

/* "ResNet-18 (batch size 32)" is the model and its batch. */
static void finish(struct trace_row *row, const struct trace_input *in)
{
    static const char before[] = " (batch size ";
    (void)in;
    const char *text = row->model.at, *at = memmem(text, row->model.n, before, sizeof before - 1);
    uint64_t batch = 0;
    if (at == NULL || row->model.at[row->model.n - 1] != ')')
        return;
    const char *digits = at + sizeof before - 1;
    size_t n = row->model.n - (size_t)(digits - text) - 1;
    if (!number_parse_u64(digits, n, &batch) || batch > UINT32_MAX)
        return;
    row->batch = (uint32_t)batch;
    row->model.n = (size_t)(at - text);
}

static int begin(struct trace_input *in, struct rows_columns *has, struct error *err)
{
    (void)in;
    (void)err;
    has->optional.batch = true;
    return BRAID_OK;
}

/* The fields of a row, and which of them tell the format: another table of as many columns, or its header, has not all of these. */
struct shape {
    unsigned n, steps_option, data_flag, steps, gpus, submit, mode;
};
enum { FIELDS_MAX = 12, NO_FIELD = FIELDS_MAX };

static bool is_number(struct csv_field f)
{
    double v;
    return number_parse_double(f.text, f.n, &v);
}

static bool is_mode(struct csv_field f)
{
    static const char *const modes[] = {"static", "gns", "accordion"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strlen(modes[i]) == f.n && memcmp(modes[i], f.text, f.n) == 0)
            return true;
    return false;
}

static bool has_shape(const char *row, size_t n, const struct shape *s)
{
    struct csv_field fields[FIELDS_MAX + 1] = {{0}};
    unsigned k = 0;
    const char *from = row, *end = row + n;
    for (const char *tab; k < s->n && (tab = memchr(from, '\t', (size_t)(end - from))) != NULL; from = tab + 1)
        fields[k++] = (struct csv_field){from, (size_t)(tab - from)};
    if (k + 1 != s->n)
        return false;
    fields[k] = (struct csv_field){from, (size_t)(end - from)};
    const struct csv_field option = fields[s->steps_option], flag = fields[s->data_flag];
    return option.n > 1 && option.text[0] == '-' && flag.n == 1 && (flag.text[0] == '0' || flag.text[0] == '1') &&
           is_number(fields[s->steps]) && is_number(fields[s->gpus]) && is_number(fields[s->submit]) &&
           (s->mode == NO_FIELD || is_mode(fields[s->mode]));
}

static bool has_7(const char *row, size_t n)
{
    return has_shape(row, n, &(struct shape){7, 2, 3, 4, 6, 5, NO_FIELD});
}

static bool has_10(const char *row, size_t n)
{
    return has_shape(row, n, &(struct shape){10, 3, 4, 5, 6, 9, NO_FIELD});
}

static bool has_12(const char *row, size_t n)
{
    return has_shape(row, n, &(struct shape){12, 3, 4, 5, 6, 11, 7});
}

static const struct trace_wording wording[] = {
    {ROW_NO_DURATION, "no rate of this type of job is known for so many GPUs, so its steps tell no run time; bring "
                      "rates with trace.applications"},
    {ROW_FINE, NULL},
};

#define LAYOUT                                                                                                         \
    .columns = columns, .n_columns = sizeof columns / sizeof columns[0], .begin = begin, .finish = finish,             \
    .delimiter = '\t'

static const struct csv_format layout_12 = {
    LAYOUT,
    .header = "job_type,command,working_directory,num_steps_arg,needs_data_dir,total_steps,scale_factor,mode,"
              "priority_weight,SLO,duration,arrival_time",
    .is_row = has_12,
    .lengths = rates_of_10,
};
static const struct csv_format layout_10 = {
    LAYOUT,
    .header = "job_type,command,working_directory,num_steps_arg,needs_data_dir,total_steps,scale_factor,"
              "priority_weight,SLO,arrival_time",
    .is_row = has_10,
    .lengths = rates_of_10,
    .next = &layout_12,
};
static const struct csv_format layout_7 = {
    LAYOUT,
    .header = "job_type,command,num_steps_arg,needs_data_dir,total_steps,arrival_time,scale_factor",
    .is_row = has_7,
    .lengths = rates_of_7,
    .next = &layout_10,
};

const struct trace_reader reader_gavel = {
    .name = "gavel",
    .summary = "Gavel: 7, 10 or 12 tab-separated fields without a header, "
               "job_type,command,…,total_steps,scale_factor,… (seconds)",
    .csv = &layout_7,
    .wording = wording,
};
