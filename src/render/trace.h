// SPDX-License-Identifier: Apache-2.0
// The light that reaches the camera along one ray, by following it backwards [Kajiya1986].
//
// Matte things see the sun by a shadow ray that water and glass let through, and the sky by
// scattering. Where a clear surface both reflects and refracts, the first few times both ways are
// followed; later one is chosen at random.
#ifndef TY_RENDER_TRACE_H
#define TY_RENDER_TRACE_H

#include "render/random.h"
#include "render/stage.h"

typedef struct ty_trace_def {
    int max_depth;      // surfaces on one path
    int max_scatter;    // matte surfaces among them
    int max_splits;     // clear surfaces where both ways are followed
    double pixel;       // radians: the width of a drawn line
    bool eye_in_water;
} ty_trace_def;

ty_trace_def ty_trace_default(void);

// What a denoiser looks at: the first surface, and the first matte surface seen through clear ones.
typedef struct ty_feature {
    ty_vec3 normal, deep_normal, albedo;
    double depth;    // metres to the first surface; 0: the sky
    bool
        deep;    // deep_normal and albedo were found: the path went through, not away from, clear surfaces
} ty_feature;

ty_vec3 ty_trace(const ty_stage* stage, const ty_trace_def* def, ty_random* random, ty_vec3 from,
                 ty_vec3 dir, double time, ty_feature* feature);

#endif
