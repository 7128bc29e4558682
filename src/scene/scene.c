// SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

#include "format/file.h"
#include "scene/buffer.h"
#include "scene/override.h"
#include "scene/read.h"
#include "scene/write.h"

// The scene's folder, absolute where it exists, so that the filled-in scene can be read from
// anywhere.
static char* folder_of(const char* path)
{
    const char* slash = strrchr(path, '/');
    ty_buffer folder = {0};
    if (slash == path) ty_buffer_add(&folder, "/");
    else if (slash) ty_buffer_add_bytes(&folder, path, slash - path);
    else ty_buffer_add(&folder, ".");
    char* name = ty_buffer_take(&folder);
    char* absolute = name ? realpath(name, NULL) : NULL;
    if (!absolute) return name;
    char* copy = ty_strdup(absolute);
    free(absolute);
    ty_free(name);
    return copy;
}

// Labels for messages, "--set solver.tolerance", and the texts they count places in.
static ty_origin* make_origins(ty_pool* pool, const char* path, const char* text, int64_t n,
                               int n_set, const char* const* set)
{
    ty_origin* origins = ty_pool_alloc(pool, (size_t)n_set + 1, sizeof *origins);
    if (!origins) return NULL;
    origins[0] = (ty_origin){path, text, n, .is_file = true, .order = 0};
    for (int i = 0; i < n_set; ++i) {
        size_t length = strcspn(set[i], "=");
        if (length > 100) length = 100;
        char* label = ty_pool_alloc(pool, length + 7, 1);
        if (!label) return NULL;
        memcpy(label, "--set ", 6);
        memcpy(label + 6, set[i], length);
        label[6 + length] = 0;
        origins[i + 1] = (ty_origin){label, set[i], (int64_t)strlen(set[i]), .is_file = false,
                                     .order = i + 1};
    }
    return origins;
}

static ty_node* read_tree(ty_pool* pool, const ty_origin* origins, int n_set, ty_mistakes* mistakes)
{
    ty_node* root = ty_yaml_read(pool, &origins[0], 0, mistakes);
    if (!root) return NULL;
    if (root->kind != TY_NODE_MAPPING) {
        ty_mistake_add(mistakes, TY_BAD_INPUT, root->spot, "%s",
                       ty_node_is_null(root) ? "the scene is empty"
                                             : "a scene is a group of keys, such as 'cell: 0.05'");
        return NULL;
    }
    for (int i = 1; i <= n_set; ++i) ty_override(pool, root, &origins[i], mistakes);
    return root;
}

static ty_status finish(ty_scene_draft* draft, ty_reader* r)
{
    ty_sim_def* def = &draft->def;
    def->solve.kind = def->solver_kind;
    def->solve.pressure = def->pressure_kind;
    def->solve.obstacles = def->obstacle_kind;
    def->track.kind = def->tracker_kind;
    def->n_inputs = (int)r->inputs.n;
    def->inputs = r->inputs.at;
    r->inputs.at = NULL;
    r->inputs.n = r->inputs.capacity = 0;
    def->scene_text = ty_scene_write(draft);
    if (!def->scene_text) return ty_no_memory("the scene");
    return ty_scene_hash(draft, &def->scene_hash);
}

static void free_reader(ty_reader* r)
{
    for (int64_t i = 0; i < r->inputs.n; ++i) ty_free(r->inputs.at[i].path);
    ty_array_free(&r->inputs);
}

static ty_status read_into(ty_scene_draft* draft, ty_pool* pool, ty_mistakes* mistakes,
                           const char* folder, const ty_origin* origins, int n_set,
                           ty_scene_report report, void* self)
{
    ty_reader r = {.draft = draft, .mistakes = mistakes, .pool = pool, .folder = folder};
    ty_node* root = read_tree(pool, origins, n_set, mistakes);
    if (root && !mistakes->no_memory) ty_read_group(&r, &ty_scene_group, root, draft);
    ty_status status = ty_mistakes_report(mistakes, origins[0].label, report, self);
    if (status.code == TY_OK) status = finish(draft, &r);
    free_reader(&r);
    return status;
}

ty_status ty_scene_read_text(ty_sim_def* def, const char* path, const char* text, int64_t n,
                             int n_set, const char* const* set, ty_scene_report report, void* self)
{
    ty_scene_draft draft = {.def = {.file = ty_strdup(path)}};
    ty_pool pool = {0};
    ty_mistakes mistakes = {0};
    char* folder = folder_of(path);
    ty_origin* origins = make_origins(&pool, path, text, n, n_set, set);
    ty_status status = ty_no_memory("the scene");
    if (draft.def.file && folder && origins)
        status = read_into(&draft, &pool, &mistakes, folder, origins, n_set, report, self);
    *def = (ty_sim_def){0};
    if (status.code == TY_OK) *def = draft.def;
    else ty_sim_def_free(&draft.def);
    ty_mistakes_free(&mistakes);
    ty_pool_free(&pool);
    ty_free(folder);
    return status;
}

ty_status ty_scene_read(ty_sim_def* def, const char* path, int n_set, const char* const* set,
                        ty_scene_report report, void* self)
{
    unsigned char* text = NULL;
    int64_t n = 0;
    *def = (ty_sim_def){0};
    ty_status status = ty_file_read(path, TY_YAML_MAX_BYTES, &text, &n);
    if (status.code != TY_OK) {
        ty_scene_message message = {.is_error = true, .status = status};
        if (status.code == TY_IO) status.code = message.status.code = TY_BAD_INPUT;
        if (report) report(self, &message);
        return status;
    }
    status = ty_scene_read_text(def, path, (const char*)text, n, n_set, set, report, self);
    ty_free(text);
    return status;
}
