/* dice.h - random numbers for tests: the same cases everywhere and for ever, whatever a library's generator becomes. */
#ifndef TESTS_DICE_H
#define TESTS_DICE_H

#include <stdint.h>

/* The next state of xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003); begin with any but 0. */
static inline uint64_t dice_next(uint64_t *dice)
{
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    return *dice;
}

/* From 0 to sides - 1. */
static inline uint32_t dice_roll(uint64_t *dice, uint32_t sides)
{
    return (uint32_t)(dice_next(dice) >> 33) % sides;
}

/* The same by xorshift64* (Vigna, ACM TOMS 42(4), 2016), for cases that have few draws each: small seeds are mixed sooner. */
static inline uint64_t dice_star(uint64_t *dice, uint64_t sides)
{
    *dice ^= *dice >> 12;
    *dice ^= *dice << 25;
    *dice ^= *dice >> 27;
    return (*dice * 0x2545f4914f6cdd1du >> 33) % sides;
}

#endif
