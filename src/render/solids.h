// SPDX-License-Identifier: Apache-2.0
// Obstacles as triangles. Boxes, cylinders and mesh files as they are; everything else is
// contoured. A shape that only moves is meshed once and carried along, so it has motion blur; one
// that changes is meshed for every frame.
#ifndef TY_RENDER_SOLIDS_H
#define TY_RENDER_SOLIDS_H

#include "mesh/tri_mesh.h"
#include "world/shape.h"

// Open. Zero-initialise, ty_solid_create, ty_solid_destroy. Borrows the def.
typedef struct ty_solid {
    ty_shape shape;
    bool rigid;            // `rest` holds for all times
    bool hollow;           // a complement: what holds liquid inside is drawn as glass
    ty_box clip;           // endless shapes end here
    double gap;            // metres by which a hollow shape's glass stands off the liquid
    ty_tri_mesh rest;      // in the shape's own space when rigid, else in the world now
    float (*normal)[3];    // per corner of `rest`
} ty_solid;

ty_status ty_solid_create(ty_solid* solid, const ty_shape_def* def, double cell, const ty_box* clip,
                          double gap);
void ty_solid_destroy(ty_solid* solid);
// The shape at time t: meshed anew when it changes.
ty_status ty_solid_move(ty_solid* solid, double t);
// Its vertices at time t (rest.n_verts of them).
void ty_solid_place(const ty_solid* solid, double t, double (*vert)[3]);
// The normals of `rest`, turned as the solid is at time t; `out` has three per triangle.
void ty_solid_normals(const ty_solid* solid, double t, float (*out)[3]);

// An axis-aligned box as twelve triangles, added to a mesh.
ty_status ty_add_box(ty_tri_mesh* mesh, const double lo[3], const double hi[3]);

#endif
