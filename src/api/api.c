// SPDX-License-Identifier: Apache-2.0
// The public functions that put the rooms together.
#include "tethys/tethys.h"

#include <stdio.h>

#include "api/scene_handle.h"
#include "core/config.h"
#include "core/parallel.h"
#include "scene/scene.h"
#include "sim/run.h"
#include "sim/sim.h"

const char* ty_version(void) { return TY_VERSION; }

const char* ty_features(void)
{
    static const char* const words[8] = {
        "no optional parts", "vdb", "render", "vdb, render", "hypre", "vdb, hypre", "render, hypre",
        "vdb, render, hypre"};
    return words[TETHYS_HAVE_VDB + 2 * TETHYS_HAVE_RENDER + 4 * TETHYS_HAVE_HYPRE];
}

void ty_set_threads(int n) { ty_threads_set(n); }

typedef struct listener {
    ty_message_fn message;
    void* self;
} listener;

static void pass_on(void* self, const ty_scene_message* m)
{
    listener* to = self;
    char text[800], line[820];
    if (!to->message) return;
    ty_status s = m->status;
    snprintf(line, sizeof line, "%s: %s", m->is_error ? "error" : "warning", s.message);
    snprintf(s.message, sizeof s.message, "%.590s", line);
    to->message(to->self, m->is_error, ty_status_text(&s, text, sizeof text), m->excerpt);
}

ty_status ty_scene_open(ty_scene** scene, const char* path, int n_set, const char* const* set,
                        ty_message_fn message, void* self)
{
    *scene = NULL;
    ty_scene* s = ty_alloc_zero(1, sizeof *s);
    if (!s) return ty_no_memory("a scene");
    listener to = {message, self};
    ty_status status = ty_scene_read(&s->def, path, n_set, set, pass_on, &to);
    if (status.code != TY_OK) {
        ty_free(s);
        return status;
    }
    *scene = s;
    return ty_ok();
}

void ty_scene_close(ty_scene* scene)
{
    if (!scene) return;
    ty_sim_def_free(&scene->def);
    ty_free(scene);
}

const char* ty_scene_name(const ty_scene* scene) { return scene->def.name; }
const char* ty_scene_text(const ty_scene* scene) { return scene->def.scene_text; }

ty_status ty_run(const ty_scene* scene, const ty_run_def* def)
{
    char dir[3000];
    ty_run_def own = *def;
    snprintf(dir, sizeof dir, "out/%s", scene->def.name);
    if (!own.dir) own.dir = dir;
    return ty_sim_run(&scene->def, &own);
}

struct ty_simulation {
    ty_sim sim;
};

ty_status ty_simulation_create(ty_simulation** simulation, const ty_scene* scene)
{
    *simulation = NULL;
    ty_simulation* s = ty_alloc_zero(1, sizeof *s);
    if (!s) return ty_no_memory("a simulation");
    ty_status status = ty_sim_create(&s->sim, &scene->def);
    if (status.code != TY_OK) {
        ty_free(s);
        return status;
    }
    *simulation = s;
    return ty_ok();
}

void ty_simulation_destroy(ty_simulation* simulation)
{
    if (!simulation) return;
    ty_sim_destroy(&simulation->sim);
    ty_free(simulation);
}

ty_status ty_simulation_advance(ty_simulation* simulation)
{
    bool done = false;
    while (!done) TY_TRY(ty_sim_step(&simulation->sim, &done));
    simulation->sim.probe_rows.n = 0;
    return ty_ok();
}

double ty_simulation_time(const ty_simulation* simulation) { return simulation->sim.time; }

ty_status ty_simulation_surface(ty_simulation* simulation, ty_surface* surface)
{
    TY_TRY(ty_sim_surface_velocities(&simulation->sim));
    const ty_tri_mesh* m = &simulation->sim.surface;
    *surface = (ty_surface){.n_verts = m->n_verts,
                            .n_tris = m->n_tris,
                            .vert = (const double(*)[3])m->vert,
                            .tri = (const int(*)[3])m->tri,
                            .velocity = (const float(*)[3])ty_tri_mesh_attribute(m, "velocity", 3)};
    return ty_ok();
}

void ty_simulation_velocity(const ty_simulation* simulation, int n, const double (*x)[3],
                            double (*velocity)[3])
{
    ty_flow flow = ty_sim_flow(&simulation->sim);
    if (n > 0) ty_sample(&flow.velocity, n, x, velocity[0]);
}

void ty_simulation_distance(const ty_simulation* simulation, int n, const double (*x)[3],
                            double* distance)
{
    ty_liquid liquid = ty_sim_liquid(&simulation->sim);
    if (n > 0) ty_sample(&liquid.distance, n, x, distance);
}

ty_status ty_reference(int json_schema, char** text)
{
    *text = json_schema ? ty_scene_json_schema() : ty_scene_reference();
    return *text ? ty_ok() : ty_no_memory("the reference");
}

void ty_text_free(char* text) { ty_free(text); }
