// SPDX-License-Identifier: Apache-2.0
// What is in a file: scene, result folder, checkpoint, mesh, volume.
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "api/scene_handle.h"
#include "api/text.h"
#include "format/file.h"
#include "format/mesh_io.h"
#include "format/vdb.h"
#include "sim/checkpoint.h"
#include "tethys/tethys.h"

static const int64_t MAX_TEXT = 1 << 28;

static void print_box(ty_text* text, const char* what, ty_box b)
{
    ty_text_print(text, "  %s  [%.6g, %.6g, %.6g] to [%.6g, %.6g, %.6g]\n", what, b.lo[0], b.lo[1],
                  b.lo[2], b.hi[0], b.hi[1], b.hi[2]);
}

static ty_status info_mesh(const char* path, ty_text* text)
{
    ty_tri_mesh mesh = {0};
    ty_tri_mesh_report r = {0};
    ty_status status = ty_mesh_read(&mesh, path);
    if (status.code == TY_OK) status = ty_tri_mesh_inspect(&mesh, &r);
    if (status.code == TY_OK) {
        ty_text_print(text, "%s: %d vertices, %d triangles, %d part%s\n", path, mesh.n_verts,
                      mesh.n_tris, r.components, r.components == 1 ? "" : "s");
        if (mesh.n_verts) print_box(text, "bounds", ty_tri_mesh_bounds(&mesh));
        ty_text_print(text, "  area    %.9g m2\n", ty_tri_mesh_area(&mesh));
        if (r.open_edges == 0)
            ty_text_print(text, "  volume  %.9g m3\n", ty_tri_mesh_volume(&mesh));
        ty_text_print(
            text, "  %s: %d open, %d non-manifold, %d flipped edges, %d triangles without area\n",
            r.open_edges || r.nonmanifold_edges || r.flipped ? "faulty" : "closed", r.open_edges,
            r.nonmanifold_edges, r.flipped, r.degenerate);
        for (int a = 0; a < mesh.n_attrs; ++a)
            ty_text_print(text, "  attribute %s (%d)\n", mesh.attr[a].name, mesh.attr[a].width);
    }
    ty_tri_mesh_free(&mesh);
    return status;
}

static ty_status info_checkpoint(const char* path, ty_text* text)
{
    ty_checkpoint_head head = {0};
    TY_TRY(ty_checkpoint_read_head(path, &head));
    ty_text_print(
        text,
        "%s: checkpoint of '%s', whole\n  frame %d, t = %.9g s, step %lld\n  tracker %s, solver %s\n"
        "  written by version %s, scene hash %016llx\n",
        path, head.name, head.frame, head.time, (long long)head.step,
        head.tracker[0] ? head.tracker : "none", head.solver, head.version,
        (unsigned long long)head.scene_hash);
    return ty_ok();
}

static ty_status info_volume(const char* path, ty_text* text)
{
    ty_vdb_listing listing = {0};
    TY_TRY(ty_vdb_list(&listing, path));
    ty_text_print(text, "%s: %d grids\n", path, listing.n_grids);
    for (int i = 0; i < listing.n_texts; ++i)
        ty_text_print(text, "  %s = %s\n", listing.texts[i].key, listing.texts[i].value);
    for (int g = 0; g < listing.n_grids; ++g) {
        const ty_vdb_entry* grid = &listing.grids[g];
        ty_text_print(text, "  grid %s (%s)\n", grid->name, grid->type);
        for (int i = 0; i < grid->n_texts; ++i)
            ty_text_print(text, "    %s = %s\n", grid->texts[i].key, grid->texts[i].value);
    }
    ty_vdb_listing_free(&listing);
    return ty_ok();
}

static void quiet(void* self, int is_error, const char* message, const char* excerpt)
{
    (void)excerpt;
    if (is_error) ty_text_print(self, "  %s\n", message);
}

static ty_status info_scene(const char* path, ty_text* text)
{
    ty_scene* scene = NULL;
    TY_TRY(ty_scene_open(&scene, path, 0, NULL, quiet, text));
    const ty_sim_def* d = &scene->def;
    ty_text_print(text, "%s: scene '%s', %s, %d frames at %g a second\n  solver %s, cell %g m",
                  path, d->name, d->smoke ? "smoke" : "liquid", d->frame_count, d->frame_rate,
                  d->solve.kind, d->cell);
    if (!d->smoke) ty_text_print(text, "; tracker %s, cell %g m", d->track.kind, d->track.cell);
    ty_text_print(
        text,
        "\n  %d liquids, %d obstacles, %d sources, %d drains, %d forces, %d cameras, %d probes\n",
        d->world.n_liquids, d->world.n_obstacles, d->world.n_sources, d->world.n_drains,
        d->world.n_forces, d->world.n_cameras, d->n_probes);
    ty_scene_close(scene);
    return ty_ok();
}

// The whole of DIR/NAME, or what is after its last line break but one.
static ty_status print_file(const char* dir, const char* name, bool last_line, ty_text* text)
{
    char path[4096];
    unsigned char* bytes = NULL;
    int64_t n = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    TY_TRY(ty_file_read(path, MAX_TEXT, &bytes, &n));
    int64_t begin = 0;
    for (int64_t i = 0; last_line && i + 1 < n; ++i)
        if (bytes[i] == '\n') begin = i + 1;
    ty_text_print(text, "%s", (char*)bytes + begin);
    ty_free(bytes);
    return ty_ok();
}

static ty_status info_folder(const char* path, ty_text* text)
{
    char name[4096];
    struct stat st;
    snprintf(name, sizeof name, "%s/run.json", path);
    if (stat(name, &st) != 0)
        return ty_fail(TY_BAD_INPUT, "'%s' is not the result of a run: there is no run.json in it",
                       path);
    ty_text_print(text, "%s: result of a run\n", path);
    TY_TRY(print_file(path, "run.json", false, text));
    ty_text_print(text, "last row of stats.csv: ");
    TY_TRY(print_file(path, "stats.csv", true, text));
    int *numbers = NULL, n = 0;
    TY_TRY(ty_checkpoint_list(path, &numbers, &n));
    ty_text_print(text, "checkpoints:");
    for (int i = 0; i < n; ++i) ty_text_print(text, " %d", numbers[i]);
    ty_text_print(text, n ? "\n" : " none\n");
    ty_free(numbers);
    return ty_ok();
}

static ty_status info_any(const char* path, ty_text* text)
{
    struct stat st;
    if (stat(path, &st) != 0) return ty_io_error("open", path);
    if (S_ISDIR(st.st_mode)) return info_folder(path, text);
    const char* dot = strrchr(path, '.');
    const char* ext = dot ? dot : "";
    if (!strcasecmp(ext, ".tyc")) return info_checkpoint(path, text);
    if (!strcasecmp(ext, ".yaml") || !strcasecmp(ext, ".yml")) return info_scene(path, text);
    if (!strcasecmp(ext, ".ply") || !strcasecmp(ext, ".obj") || !strcasecmp(ext, ".stl"))
        return info_mesh(path, text);
    if (!strcasecmp(ext, ".vdb")) return info_volume(path, text);
    return ty_fail(
        TY_BAD_INPUT,
        "'%s': not a kind of file we know; a scene is .yaml, a checkpoint .tyc, a mesh .ply, .obj or .stl, "
        "a volume .vdb",
        path);
}

ty_status ty_info(const char* path, char** out)
{
    ty_text text = {0};
    *out = NULL;
    ty_status status = info_any(path, &text);
    ty_status taken = ty_text_take(&text, out);
    return status.code == TY_OK ? taken : status;
}
