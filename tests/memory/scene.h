/* scene.h - a command of the program while memory runs out
 *
 * A scene is a command line. It is played once in peace, then once for every place in the code from which memory is asked for, with that
 * call failing, and with all calls from that one on failing. Each time:
 *   - the status is 1 and the message speaks of memory, and there is no new file, or a results file that can be read;
 *   - or it is 0 and all that was printed and written is what it was in peace (what can be done without is done without);
 *   - every piece of memory is freed.
 * With MEMORY_TRACE=FILE in the environment the file gets each try and the addresses of the call that fails, so that the last lines tell what
 * crashed. A place that failed twice in any scene (under the address sanitizer: once) is not tried again: the first call from it often takes another way than the others.
 */
#ifndef TESTS_MEMORY_SCENE_H
#define TESTS_MEMORY_SCENE_H

#include <stdbool.h>

/* Words of a command line separated by blanks, such as "run tiny.yaml -o out.h5"; a ~ is a blank within a word. In the folder of scene_folder. `out` is the file that it
 * writes, or NULL. It must succeed in peace. */
void scene_play(const char *words, const char *out);

/* Does it succeed in peace? */
bool scene_works(const char *words);

/* A new folder for files, which becomes the current one; removed by scene_close. scene_root: the one before. */
void scene_open(void);
void scene_close(void);
const char *scene_root(void);

/* Write a file there. */
void scene_file(const char *name, const char *text);

#endif
