// SPDX-License-Identifier: Apache-2.0
#include "scene/checks.h"

#include <math.h>
#include <string.h>

#include "core/vec.h"
#include "scene/read.h"
#include "world/force.h"

static ty_spot spot_of(const ty_node* node) { return node ? node->spot : (ty_spot){0}; }

// Of a key of the group, when it is there; else of the group.
static ty_spot key_spot(const ty_node* node, const char* key)
{
    const ty_node* value = node ? ty_node_find(node, key) : NULL;
    return value ? value->key->spot : spot_of(node);
}

#define WRONG(r, spot, ...) ty_mistake_add((r)->mistakes, TY_BAD_INPUT, spot, __VA_ARGS__)

static void check_corners(ty_reader* r, const ty_node* node, const char* what, const double lo[3],
                          const double hi[3])
{
    for (int axis = 0; axis < 3; ++axis) {
        if (lo[axis] < hi[axis]) continue;
        WRONG(r, key_spot(node, "max"), "'%s': max %c (%g) must be above min %c (%g)", what,
              "xyz"[axis], hi[axis], "xyz"[axis], lo[axis]);
        return;
    }
}

void ty_check_domain(ty_reader* r, void* self, ty_node* node)
{
    ty_scene_draft* draft = self;
    ty_world_def* world = &draft->def.world;
    if (draft->has_domain_size && draft->has_domain_max)
        WRONG(r, key_spot(node, "size"), "'size' and 'max' are both given; give one of them");
    else if (draft->has_domain_size)
        for (int axis = 0; axis < 3; ++axis)
            world->max[axis] = world->min[axis] + draft->domain_size[axis];
    else if (!draft->has_domain_max) WRONG(r, spot_of(node), "'domain' needs 'size' or 'max' (m)");
    draft->has_domain_max = true;
    check_corners(r, node, "domain", world->min, world->max);
}

void ty_check_solver(ty_reader* r, void* self, ty_node* node)
{
    ty_scene_draft* draft = self;
    if (strcmp(draft->def.solver_kind, "prescribed") == 0 &&
        !(node && ty_node_find(node, "velocity")))
        WRONG(r, key_spot(node, "kind"), "solver 'prescribed' needs 'velocity' (m/s)");
}

void ty_check_surface(ty_reader* r, void* self, ty_node* node)
{
    const ty_sim_def* def = &((ty_scene_draft*)self)->def;
    if (def->smoke && ((ty_scene_draft*)self)->has_tracker)
        ty_warning_add(r->mistakes, key_spot(node, "tracker"),
                       "smoke has no surface; 'tracker' is not used");
    ((ty_scene_draft*)self)->has_tracker = true;
}

// Gravity stands among the forces in the file, and apart in the def.
static void take_gravity(ty_reader* r, ty_world_def* world, const ty_node* node)
{
    const ty_node* forces = node ? ty_node_find(node, "forces") : NULL;
    int kept = 0;
    bool seen = false;
    for (int i = 0; i < world->n_forces; ++i) {
        ty_force_def* force = &world->forces[i];
        if (force->kind != TY_FORCE_GRAVITY || force->vector.width != 3) {
            if (kept != i) {
                world->forces[kept] = *force;
                memset(force, 0, sizeof *force);
            }
            ++kept;
            continue;
        }
        if (seen) WRONG(r, spot_of(ty_node_item(forces, i)), "gravity is given twice");
        if (force->bounded || force->active[0] > 0.0 || !isinf(force->active[1]))
            WRONG(r, spot_of(ty_node_item(forces, i)),
                  "gravity acts everywhere and always; for less, use 'field'");
        seen = true;
        ty_varying_free(&world->gravity);
        world->gravity = force->vector;
        force->vector = (ty_varying){0};
        ty_varying_free(&force->strength);
        ty_shape_def_free(&force->region);
        memset(force, 0, sizeof *force);
    }
    world->n_forces = kept;
    if (!seen)
        world->gravity = world->up == 2 ? ty_varying_vector(0, 0, -9.81)
                                        : ty_varying_vector(0, -9.81, 0);
}

enum { MOST_CELLS = 100000 };    // along a side, as for `resolution`

static void choose_cell(ty_reader* r, ty_scene_draft* draft, const ty_node* node)
{
    ty_sim_def* def = &draft->def;
    double longest = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        longest = fmax(longest, def->world.max[axis] - def->world.min[axis]);
    if (draft->has_cell && draft->has_resolution)
        WRONG(r, key_spot(node, "resolution"),
              "'cell' and 'resolution' are both given; give one of them");
    else if (!draft->has_cell && !def->world.has_domain)
        WRONG(r, key_spot(node, "resolution"),
              "without a domain, the size of a cell must be given: cell: 0.05 (m)");
    else if (!draft->has_cell) def->cell = longest / draft->resolution;
    else if (def->cell <= 0.0) return;    // it was wrong, and was reported
    else if (def->world.has_domain && def->cell * MOST_CELLS < longest)
        WRONG(r, key_spot(node, "cell"),
              "'cell' (%g m) is too small for the domain (longest side %g m)", def->cell, longest);
    else if (def->world.has_domain && def->cell > 0.5 * longest)
        WRONG(r, key_spot(node, "cell"),
              "'cell' (%g m) is too large for the domain (longest side %g m)", def->cell, longest);
    draft->has_cell = true;
    def->solve.cell = def->cell;
    def->track.cell = def->cell / draft->ratio;
}

static void check_domain_needed(ty_reader* r, const ty_sim_def* def, const ty_node* node)
{
    if (def->world.has_domain || !def->solver_kind || !def->tracker_kind) return;
    const ty_solver_kind* solver = ty_solver_find(def->solver_kind);
    const ty_tracker_kind* tracker = def->smoke ? NULL : ty_tracker_find(def->tracker_kind);
    if (solver && solver->needs_domain)
        WRONG(r, spot_of(node),
              "solver '%s' needs a domain; add  domain: {min: [0, 0, 0], size: [1, 1, 1]}",
              solver->name);
    else if (tracker && tracker->needs_domain)
        WRONG(r, spot_of(node),
              "tracker '%s' needs a domain; add  domain: {min: [0, 0, 0], size: [1, 1, 1]}",
              tracker->name);
}

static bool same_name(const char* a, const char* b) { return a && b && strcmp(a, b) == 0; }

static void check_names_differ(ty_reader* r, const ty_sim_def* def, const ty_node* node)
{
    const ty_node* probes = node ? ty_node_find(node, "probes") : NULL;
    const ty_node* cameras = node ? ty_node_find(node, "cameras") : NULL;
    for (int i = 1; i < def->n_probes; ++i)
        for (int j = 0; j < i; ++j)
            if (same_name(def->probes[i].name, def->probes[j].name))
                WRONG(r, spot_of(ty_node_item(probes, i)), "two probes are called '%s'",
                      def->probes[i].name);
    for (int i = 1; i < def->world.n_cameras; ++i)
        for (int j = 0; j < i; ++j)
            if (same_name(def->world.cameras[i].name, def->world.cameras[j].name))
                WRONG(r, spot_of(ty_node_item(cameras, i)), "two cameras are called '%s'",
                      def->world.cameras[i].name);
}

// Whether a list is left out or empty in the file, whatever is wrong with its items.
static bool says_none(const ty_node* node, const char* key)
{
    const ty_node* list = node ? ty_node_find(node, key) : NULL;
    return !list || (list->kind == TY_NODE_SEQUENCE && list->n_children == 0) ||
           ty_node_is_null(list);
}

void ty_check_scene(ty_reader* r, void* self, ty_node* node)
{
    ty_scene_draft* draft = self;
    ty_sim_def* def = &draft->def;
    if (def->name &&
        (strchr(def->name, '/') || strcmp(def->name, ".") == 0 || strcmp(def->name, "..") == 0))
        WRONG(r, key_spot(node, "name"),
              "'name' is also the name of a folder: it must not be '.' or '..', nor hold a '/'");
    take_gravity(r, &def->world, node);
    choose_cell(r, draft, node);
    check_domain_needed(r, def, node);
    check_names_differ(r, def, node);
    const ty_tracker_kind* tracker = def->smoke || !def->tracker_kind
                                         ? NULL
                                         : ty_tracker_find(def->tracker_kind);
    if (def->write_particles && !(tracker && tracker->particles))
        ty_warning_add(r->mistakes, key_spot(node, "output"),
                       "'particles' are not written: only tracker 'particle' has any");
    const ty_solver_kind* solver = def->solver_kind ? ty_solver_find(def->solver_kind) : NULL;
    if (def->write_tets && solver && !solver->write_tets)
        ty_warning_add(r->mistakes, key_spot(node, "output"),
                       "'tets' are not written: only solver 'tet' has any");
    if (!def->world.has_domain && !says_none(node, "walls"))
        ty_warning_add(r->mistakes, key_spot(node, "walls"),
                       "'walls' without a domain are not used");
    if (!def->smoke && says_none(node, "liquid") && says_none(node, "sources"))
        WRONG(r, key_spot(node, "liquid"),
              "no liquid; add  liquid: [{box: {min: [...], max: [...]}}]  or a source");
}

void ty_start_shape(void* self, int kind) { *(ty_shape_def*)self = ty_shape_default(kind); }

void ty_start_force(void* self, int kind) { *(ty_force_def*)self = ty_force_default(kind); }

void ty_check_box(ty_reader* r, void* self, ty_node* node)
{
    ty_shape_def* shape = self;
    check_corners(r, node, "box", shape->min, shape->max);
}

static void check_direction(ty_reader* r, const ty_node* node, const char* key, const double v[3])
{
    if (ty_norm(ty_load3(v)) > 0.0) return;
    WRONG(r, key_spot(node, key), "'%s' must not be zero: it is a direction", key);
}

void ty_check_rod(ty_reader* r, void* self, ty_node* node)
{
    ty_shape_def* shape = self;
    if (memcmp(shape->from, shape->to, sizeof shape->from) == 0)
        WRONG(r, key_spot(node, "to"), "'from' and 'to' are the same point");
}

void ty_check_plane(ty_reader* r, void* self, ty_node* node)
{
    check_direction(r, node, "normal", ((ty_shape_def*)self)->normal);
}

void ty_check_torus(ty_reader* r, void* self, ty_node* node)
{
    check_direction(r, node, "axis", ((ty_shape_def*)self)->axis);
}

void ty_check_turn(ty_reader* r, void* self, ty_node* node)
{
    check_direction(r, node, "axis", ((ty_pose_key*)self)->axis);
}

void ty_check_shape(ty_reader* r, void* self, ty_node* node)
{
    ty_shape_def* shape = self;
    shape->place = ty_reader_place(r, spot_of(node));
    const ty_node* motion = node ? ty_node_find(node, "motion") : NULL;
    for (int i = 1; i < shape->n_keys; ++i)
        if (shape->keys[i].time <= shape->keys[i - 1].time)
            WRONG(r, spot_of(ty_node_item(motion, i)),
                  "'motion': times of key frames must rise (%g after %g)", shape->keys[i].time,
                  shape->keys[i - 1].time);
}

void ty_check_force_axis(ty_reader* r, void* self, ty_node* node)
{
    check_direction(r, node, "axis", ((ty_force_def*)self)->axis);
}

void ty_check_custom_force(ty_reader* r, void* self, ty_node* node)
{
    ty_force_def* force = self;
    if (!ty_force_find(force->custom))
        WRONG(r, key_spot(node, "kind"), "no force is registered as '%s'", force->custom);
}

void ty_check_force(ty_reader* r, void* self, ty_node* node)
{
    ((ty_force_def*)self)->place = ty_reader_place(r, spot_of(node));
}

void ty_check_camera(ty_reader* r, void* self, ty_node* node)
{
    ty_camera_def* camera = self;
    check_direction(r, node, "up", camera->up);
    bool still = camera->eye.kind == TY_VARY_CONSTANT && camera->target.kind == TY_VARY_CONSTANT;
    if (still && memcmp(camera->eye.constant, camera->target.constant, sizeof camera->up) == 0)
        WRONG(r, key_spot(node, "target"), "'eye' and 'target' are the same point");
}

void ty_check_probe(ty_reader* r, void* self, ty_node* node)
{
    ty_probe_def* probe = self;
    if (strpbrk(probe->name, ",\""))
        WRONG(r, key_spot(node, "name"),
              "a probe's name is a column of a table: no commas, no quotes");
}
