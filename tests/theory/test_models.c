/* The engine against the closed forms of queueing theory (models.c). Each test runs beside the others. */
#include "tests/theory/models.h"

#include <criterion/criterion.h>

Test(theory, mm1_waits_as_theory_says)
{
    models_check("M/M/1 fifo");
}

Test(theory, mmc_waits_as_erlang_says)
{
    models_check("M/M/2 fifo");
    models_check("M/M/4 fifo");
    models_check("M/M/16 fifo");
}

Test(theory, mg1_waits_as_pollaczek_and_khinchine_say)
{
    models_check("M/D/1 fifo");
    models_check("M/LN/1 fifo");
}

Test(theory, random_order_waits_as_long_as_fifo)
{
    models_check("M/M/1 random");
}

Test(theory, shortest_job_first_waits_as_phipps_says)
{
    models_check("M/M/1 sjf");
}

Test(theory, shortest_remaining_time_first_responds_as_schrage_and_miller_say)
{
    models_check("M/M/1 srtf");
    models_check("M/LN/1 srtf");
}

Test(theory, priority_classes_wait_as_cobham_says)
{
    models_check("M/M/1 priority");
}

Test(theory, blind_policies_respond_alike_under_exponential_service)
{
    models_check("M/M/1 las");
    models_check("M/M/1 tiresias");
    models_check("M/M/1 round_robin");
}

Test(theory, round_robin_tends_to_processor_sharing_for_every_distribution)
{
    models_check("M/D/1 round_robin, quantum to 0");
    models_check("M/LN/1 round_robin, quantum to 0");
}

Test(theory, without_a_queue_the_number_in_system_is_poisson_for_every_distribution)
{
    models_check("M/M/inf");
    models_check("M/D/inf");
    models_check("M/LN/inf");
}
