#include "policies/search_pareto.h"

#include <math.h>

bool pareto_dominates(const struct pareto_point *a, const struct pareto_point *b)
{
    bool is_better = false;
    for (uint32_t k = 0; k < a->n; k++) {
        if (a->value[k] > b->value[k])
            return false;
        is_better |= a->value[k] < b->value[k];
    }
    return is_better;
}

/* The neighbours of point i in value k within its front: the next smaller and the next larger, by index where equal. */
static double box_side(const struct pareto_point *p, uint32_t n, uint32_t i, uint32_t k)
{
    double low = -INFINITY, high = INFINITY, least = INFINITY, most = -INFINITY, own = p[i].value[k];
    for (uint32_t j = 0; j < n; j++) {
        if (p[j].front != p[i].front)
            continue;
        double v = p[j].value[k];
        least = v < least ? v : least;
        most = v > most ? v : most;
        if (j == i)
            continue;
        bool is_before = v < own || (v == own && j < i);
        if (is_before && v > low)
            low = v;
        if (!is_before && v < high)
            high = v;
    }
    if (!isfinite(low) || !isfinite(high))
        return INFINITY;
    return most > least ? (high - low) / (most - least) : 0;
}

void pareto_sort(struct pareto_point *p, uint32_t n)
{
    uint32_t placed = 0;
    for (uint32_t i = 0; i < n; i++)
        p[i].front = UINT32_MAX;
    for (uint32_t front = 0; placed < n; front++) {
        for (uint32_t i = 0; i < n; i++) {
            if (p[i].front < front)
                continue;
            bool is_free = true;
            for (uint32_t j = 0; j < n && is_free; j++)
                is_free = p[j].front < front || !pareto_dominates(&p[j], &p[i]);
            if (is_free) {
                p[i].front = front;
                placed++;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        p[i].crowding = 0;
        for (uint32_t k = 0; k < p[i].n; k++)
            p[i].crowding += box_side(p, n, i, k);
    }
}

bool pareto_is_before(const struct pareto_point *a, const struct pareto_point *b)
{
    return a->front < b->front || (a->front == b->front && a->crowding > b->crowding);
}

void pareto_order(const struct pareto_point *p, uint32_t n, uint32_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        for (; k > 0 && pareto_is_before(&p[i], &p[out[k - 1]]); k--)
            out[k] = out[k - 1];
        out[k] = i;
    }
}

static double sum_of(const struct pareto_point *p)
{
    double sum = 0;
    for (uint32_t k = 0; k < p->n; k++)
        sum += p->value[k];
    return sum;
}

uint32_t pareto_choose(const struct pareto_point *p, uint32_t n, enum pareto_choice choice)
{
    double least[PARETO_VALUES], most[PARETO_VALUES], best_cost = INFINITY;
    uint32_t best = 0;
    bool has_best = false;
    for (uint32_t k = 0; k < PARETO_VALUES; k++) {
        least[k] = INFINITY;
        most[k] = -INFINITY;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < p[i].n && p[i].front == 0; k++) {
            least[k] = fmin(least[k], p[i].value[k]);
            most[k] = fmax(most[k], p[i].value[k]);
        }
    for (uint32_t i = 0; i < n; i++) {
        if (p[i].front != 0)
            continue;
        double cost = 0;
        for (uint32_t k = 0; k < p[i].n && choice == PARETO_KNEE; k++) {
            double x = most[k] > least[k] ? (p[i].value[k] - least[k]) / (most[k] - least[k]) : 0;
            cost += x * x;
        }
        if (choice != PARETO_KNEE)
            cost = sum_of(&p[i]);
        if (!has_best || cost < best_cost) {
            best = i;
            best_cost = cost;
            has_best = true;
        }
    }
    return best;
}
