// SPDX-License-Identifier: Apache-2.0
// What stands before the camera in one frame: triangle meshes with a material each, the ground, the
// sky; and the rays through it, by Embree.
//
//   create, add meshes, commit; then reading is free from any number of threads
//
// Embree builds with one thread, so that its tree, and with it every tie between two triangles, is
// always the same.
#ifndef TY_RENDER_STAGE_H
#define TY_RENDER_STAGE_H

#include <embree3/rtcore.h>

#include "core/memory.h"
#include "mesh/tri_mesh.h"
#include "render/sky.h"

typedef enum ty_matter_kind {
    TY_MATTE,    // scatters evenly; `colour` is its albedo
    TY_CLEAR,    // the surface of the liquid: reflects and refracts
    TY_PANE      // a thin sheet of glass: reflects, and lets `colour` through without bending it
} ty_matter_kind;

typedef struct ty_matter {
    ty_matter_kind kind;
    ty_vec3 colour;
    bool mapped;    // the sun on it comes from the stage's sun map
    bool lines;     // edges of the triangles are drawn in line_colour
    ty_vec3 line_colour;
} ty_matter;

// One mesh. `vert` is where it is when the shutter opens, `end` when it closes (NULL: it stands
// still). `normal` has three vectors per triangle (NULL: flat). Borrowed: everything is copied.
typedef struct ty_stage_mesh {
    int n_verts, n_tris;
    const double (*vert)[3];
    const double (*end)[3];
    const int (*tri)[3];
    const float (*normal)[3];
    ty_matter matter;
} ty_stage_mesh;

typedef struct ty_stage_body {
    ty_matter matter;
    float (*normal)[3];
    double (*corner)[3];    // of each triangle, when lines are drawn
} ty_stage_body;

// The floor of the studio: a plane that fades into the horizon.
typedef struct ty_ground {
    bool there;
    double height;
    ty_matter matter;
    ty_vec3 centre;
    double fade_from, fade_to;    // metres from the centre
} ty_ground;

// Sunlight that reached a level rectangle through water: a grid of shares of the sun's irradiance.
typedef struct ty_sun_map {
    int axis[2];    // across `up`
    double origin[2], cell;
    int n[2];
    float* share;    // n[0] x n[1], first axis fastest; NULL: no map
} ty_sun_map;

// Open. Owns everything.
typedef struct ty_stage {
    RTCDevice device;
    RTCScene scene;
    TY_ARRAY(ty_stage_body) bodies;
    ty_sky sky;
    ty_ground ground;
    ty_sun_map sun_map;
    int up;
    ty_vec3 absorption;    // of the liquid, 1/m
    double scale;          // metres; the size of the scene, for offsets
} ty_stage;

ty_status ty_stage_create(ty_stage* stage, int up, double scale);
void ty_stage_destroy(ty_stage* stage);
ty_status ty_stage_add(ty_stage* stage, const ty_stage_mesh* mesh);
ty_status ty_stage_commit(ty_stage* stage);

typedef struct ty_hit {
    double t;    // metres along the ray; INFINITY: nothing
    ty_vec3 at;
    ty_vec3 face, normal;    // of the triangle, outward; for shading, on the same side
    const ty_matter* matter;
    double edge;    // metres to the triangle's nearest edge, when its matter has lines
    double fade;    // share of the sky that shows through the ground here
} ty_hit;

// The first thing along the ray. `time` in 0..1 while the shutter is open.
ty_hit ty_stage_trace(const ty_stage* stage, ty_vec3 from, ty_vec3 dir, double time);
// Whether a point is in the liquid: what a ray upwards meets first is its surface from below.
bool ty_stage_in_liquid(const ty_stage* stage, ty_vec3 at);
// A point just off a surface, on the side of `dir`.
ty_vec3 ty_stage_leave(const ty_stage* stage, const ty_hit* hit, ty_vec3 dir);
// The share of light that gets from `from` along `dir` to the sky. Water and glass take their part
// but do not bend it: Departs: the sun under water is lit through a straight path, because
// refracted ones cannot be found from below.
ty_vec3 ty_stage_passes(const ty_stage* stage, ty_vec3 from, ty_vec3 dir, double time,
                        bool in_water);

// After commit: follows sunlight down through the liquid to the top of the box `floor`, where it
// makes caustics. Matter that is `mapped` is then lit by it. The same for any number of threads.
ty_status ty_stage_map_sun(ty_stage* stage, const ty_box* floor);
double ty_sun_map_at(const ty_sun_map* map, ty_vec3 at);

#endif
