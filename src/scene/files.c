// SPDX-License-Identifier: Apache-2.0
// Files that a scene names: found relative to it, hashed so that a resumed run notices a change.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/hash.h"
#include "scene/buffer.h"
#include "scene/read.h"

static char* join(ty_reader* r, const char* folder, const char* file)
{
    ty_buffer path = {0};
    if (file[0] == '/' || !*folder) ty_buffer_add(&path, "%s", file);
    else ty_buffer_add(&path, "%s/%s", folder, file);
    char* text = ty_buffer_take(&path);
    if (!text) ty_set_no_memory(r);
    return text;
}

static bool is_listed(const ty_reader* r, const char* path)
{
    for (int64_t i = 0; i < r->inputs.n; ++i)
        if (strcmp(r->inputs.at[i].path, path) == 0) return true;
    return false;
}

// Hashes a file into the list of inputs. False after reporting that it cannot be read.
static bool add_input(ty_reader* r, const ty_key* key, const ty_node* node, const char* path)
{
    if (is_listed(r, path)) return true;
    struct stat about;
    ty_input_file input = {.path = NULL};
    if (stat(path, &about) != 0) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s': cannot open '%.300s': %s",
                       key->name, path, strerror(errno));
        return false;
    }
    if (!S_ISREG(about.st_mode)) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s': '%.300s' is not a file",
                       key->name, path);
        return false;
    }
    ty_status status = ty_hash_file(path, &input.hash);
    if (status.code != TY_OK) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s': %s", key->name,
                       status.message);
        return false;
    }
    input.path = ty_reader_strdup(r, path);
    if (!input.path) return false;
    if (ty_array_push(&r->inputs, input)) return true;
    ty_free(input.path);
    ty_set_no_memory(r);
    return false;
}

// "body.####.obj": what stands before and behind the number.
typedef struct pattern {
    const char *name, *hashes;
    size_t n_hashes;
} pattern;

static bool matches(const pattern* p, const char* name)
{
    size_t before = (size_t)(p->hashes - p->name);
    if (strncmp(name, p->name, before) != 0) return false;
    size_t digits = strspn(name + before, "0123456789");
    return digits >= p->n_hashes && strcmp(name + before + digits, p->hashes + p->n_hashes) == 0;
}

static int by_name(const void* a, const void* b)
{
    const ty_input_file *p = a, *q = b;
    return strcmp(p->path, q->path);
}

static void add_sequence(ty_reader* r, const ty_key* key, const ty_node* node, char* path)
{
    char* slash = strrchr(path, '/');
    pattern p = {.name = slash ? slash + 1 : path};
    p.hashes = strchr(p.name, '#');
    if (!p.hashes) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s': #### may stand in the file's name only, not in its folder",
                       key->name);
        return;
    }
    p.n_hashes = strspn(p.hashes, "#");
    if (slash) *slash = 0;
    DIR* folder = opendir(slash ? (*path ? path : "/") : ".");
    if (slash) *slash = '/';
    int64_t before = r->inputs.n;
    bool found = false;
    for (struct dirent* entry; folder && (entry = readdir(folder));) {
        if (!matches(&p, entry->d_name)) continue;
        found = true;
        if (slash) *slash = 0;
        char* file = join(r, slash ? path : "", entry->d_name);
        if (slash) *slash = '/';
        if (file) add_input(r, key, node, file);
        ty_free(file);
    }
    if (folder) closedir(folder);
    if (!found)
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot, "'%s': no file matches '%.300s'",
                       key->name, path);
    if (r->inputs.n > before)
        qsort(r->inputs.at + before, (size_t)(r->inputs.n - before), sizeof *r->inputs.at, by_name);
}

void ty_read_file(ty_reader* r, const ty_key* key, ty_node* node, char** out)
{
    enum { LONGEST = 1000 };
    if (node->kind != TY_NODE_SCALAR || !*node->text || strlen(node->text) > LONGEST) {
        ty_mistake_add(r->mistakes, TY_BAD_INPUT, node->spot,
                       "'%s' must be the name of a file, not %s", key->name,
                       ty_node_kind_name(node));
        return;
    }
    char* path = join(r, r->folder, node->text);
    if (!path) return;
    ty_free(*out);
    *out = path;
    if (key->sequence && strchr(node->text, '#')) add_sequence(r, key, node, path);
    else add_input(r, key, node, path);
}
