/* replay.c - the targets without libFuzzer, for any compiler: every file of the given folders goes to the target that they are named after.
 *
 *     replay --list                     names of all targets
 *     replay TARGET FILE|FOLDER...      exit status 77 when there is nothing to replay
 */
#include "folder.h"
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int replay_file(const struct fuzz_target *t, const char *path)
{
    size_t n;
    uint8_t *bytes = folder_read(path, &n);
    fprintf(stderr, "%s %s\n", t->name, path); /* the last line tells which file ended the program */
    t->one(t, bytes, n);
    free(bytes);
    return 1;
}

static int is_no_dot(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int replay_folder(const struct fuzz_target *t, const char *path)
{
    struct dirent **files;
    int n = scandir(path, &files, is_no_dot, alphasort), done = 0;
    for (int i = 0; i < n; i++) {
        char *file;
        if (asprintf(&file, "%s/%s", path, files[i]->d_name) > 0) {
            done += replay_file(t, file);
            free(file);
        }
        free(files[i]);
    }
    if (n >= 0)
        free(files);
    return done;
}

int main(int argc, char **argv)
{
    const struct fuzz_target *t;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; (t = fuzz_target_at(i)) != NULL; i++)
            puts(t->name);
        return 0;
    }
    t = argc > 2 ? fuzz_target_find(argv[1]) : NULL;
    if (t == NULL) {
        fprintf(stderr, "usage: replay --list | replay TARGET FILE|FOLDER...\n");
        return 2;
    }
    int done = 0;
    for (int i = 2; i < argc; i++) {
        struct stat st;
        bool is_folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        if (is_folder || stat(argv[i], &st) != 0)
            done += replay_folder(t, argv[i]);
        else
            done += replay_file(t, argv[i]);
    }
    return done > 0 ? 0 : 77;
}
