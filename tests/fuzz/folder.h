/* folder.h - the files of a case: one folder a process, in memory where that is possible, gone when the process ends. */
#ifndef TESTS_FUZZ_FOLDER_H
#define TESTS_FUZZ_FOLDER_H

#include "bytes.h"

/* Write file `name`, and its path (valid until the process ends). */
const char *folder_file(const char *name, struct bytes content);

/* The path of a file that need not be there. */
const char *folder_path(const char *name);
void folder_remove(const char *name);

/* The whole file, to be freed. */
uint8_t *folder_read(const char *path, size_t *n);

#endif
