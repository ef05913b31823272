/* faulty_alloc.h - allocations that fail when they are told to.
 *
 *     discover:  alloc_record(sites, room);  work;  n = alloc_stop();     sites[k]: where call k came from
 *     try:       alloc_fail(k, for_good);    work;  alloc_stop();         call k fails, or it and all after it
 *
 * For the calls of braid's own code alone: meson.build wraps them by the linker. Work on one thread.
 */
#ifndef TESTS_MEMORY_FAULTY_ALLOC_H
#define TESTS_MEMORY_FAULTY_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Count calls from 0; sites[k] becomes a number that is the same for calls from the same place by the same callers. */
void alloc_record(uint64_t *sites, size_t room);

/* Count calls from 0; call `at` fails, with all after it where `for_good`. */
void alloc_fail(uint64_t at, bool for_good);

/* Write where the first call that fails comes from to this file descriptor (addr2line reads it); 0: do not. */
void alloc_trace(int fd);

/* No more of either; the number of calls since. */
uint64_t alloc_stop(void);

/* Pieces of memory that were allocated and not freed since the program began. */
int64_t alloc_live(void);

#endif
