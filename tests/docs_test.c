// SPDX-License-Identifier: Apache-2.0
// What the pages tell a reader to type works: every command of README, tutorial and gallery is run,
// small, with the scenes that the pages show.
#include "program.h"
#include "tethys/tethys.h"

enum { PAGE_TEXT = 1 << 16 };

static char folder[600];

static int open_desk(void** state)
{
    (void)state;
    char link[1000];
    snprintf(folder, sizeof folder, "%s", test_folder("docs"));
    snprintf(link, sizeof link, "%s/scenes", folder);
    assert_int_equal(symlink(TY_SOURCE_DIR "/scenes", link), 0);
    return 0;
}

static void read_page(const char* name, char text[PAGE_TEXT])
{
    char path[1000];
    snprintf(path, sizeof path, TY_SOURCE_DIR "/%s", name);
    FILE* f = fopen(path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, PAGE_TEXT - 1, f);
    assert_true(n > 0 && n < PAGE_TEXT - 1);
    text[n] = 0;
    fclose(f);
}

// The `index`th block of YAML.
static void read_block(const char* page, int index, char* out, size_t size)
{
    static const char begin[] = "```yaml\n";
    const char* at = page;
    for (int i = 0; i <= index; ++i) {
        at = strstr(at, begin);
        assert_non_null(at);
        at += strlen(begin);
    }
    const char* end = strstr(at, "```");
    assert_true(end && (size_t)(end - at) < size);
    snprintf(out, size, "%.*s", (int)(end - at), at);
}

// Without empty lines and whole-line comments.
static void strip(char* yaml)
{
    char* out = yaml;
    for (char* line = yaml; *line;) {
        size_t n = strcspn(line, "\n");
        n += line[n] == '\n';
        if (*line != '#' && *line != '\n') {
            memmove(out, line, n);
            out += n;
        }
        line += n;
    }
    *out = 0;
}

// `tethys ARGS` in little: a coarse lattice, two frames, a thumbnail.
static void run_small(const char* args)
{
    char small[1000];
    bool draws = strncmp(args, "render ", 7) == 0;
    if (draws && !strstr(ty_features(), "render")) return;
    const char* more = "";
    if (draws) more = " --frames 1 --size 32x18 --samples 1 --overwrite --no-film";
    else if (strncmp(args, "run ", 4) == 0) more = " --overwrite --frames 2 --set resolution=12";
    snprintf(small, sizeof small, "%s%s", args, more);
    assert_program(folder, small, 0, NULL);
}

// The lines of `page` that begin with four spaces and the program; returns how many.
static int run_commands(const char* name)
{
    static char page[PAGE_TEXT];
    static const char prompt[] = "    build/tethys ";
    int n = 0;
    read_page(name, page);
    for (char* line = strtok(page, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, prompt, strlen(prompt)) != 0) continue;
        char* note = strstr(line, "  #");
        if (note) *note = 0;
        run_small(line + strlen(prompt));
        ++n;
    }
    return n;
}

static void the_readme(void** state)
{
    (void)state;
    assert_true(run_commands("README.md") >= 4);
}

static void the_tutorial(void** state)
{
    (void)state;
    static char page[PAGE_TEXT], scene[PAGE_TEXT], part[PAGE_TEXT], whole[2 * PAGE_TEXT];
    read_page("docs/tutorial.md", page);
    read_block(page, 0, scene, sizeof scene);
    write_text(folder, "splash.yaml", scene);
    read_page("scenes/splash.yaml", part);
    strip(part);
    strip(scene);
    assert_string_equal(part, scene);
    read_block(page, 3, part, sizeof part);
    snprintf(whole, sizeof whole, "%s%s", scene, part);
    write_text(folder, "guided.yaml", whole);
    assert_true(run_commands("docs/tutorial.md") >= 10);
}

// The blocks that change the scene go into it in place of its own or beside it.
static void changes_of_the_tutorial(void** state)
{
    (void)state;
    static char page[PAGE_TEXT], scene[PAGE_TEXT], part[PAGE_TEXT], whole[2 * PAGE_TEXT];
    read_page("docs/tutorial.md", page);
    read_block(page, 0, scene, sizeof scene);
    char* own = strstr(scene, "obstacles:");
    char* rest = strstr(scene, "cameras:");
    assert_true(own && rest);
    for (int i = 1; i <= 2; ++i) {
        read_block(page, i, part, sizeof part);
        bool instead = strncmp(part, "obstacles:", 10) == 0;
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)((instead ? own : rest) - scene), scene,
                 part, rest);
        write_text(folder, "changed.yaml", whole);
        run_small("run changed.yaml -o out/changed");
    }
}

static void the_gallery(void** state)
{
    (void)state;
    assert_true(run_commands("docs/gallery.md") >= 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_readme),
        cmocka_unit_test(the_tutorial),
        cmocka_unit_test(changes_of_the_tutorial),
        cmocka_unit_test(the_gallery),
    };
    return cmocka_run_group_tests(tests, open_desk, NULL);
}
