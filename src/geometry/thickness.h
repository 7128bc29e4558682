// SPDX-License-Identifier: Apache-2.0
#ifndef TY_GEOMETRY_THICKNESS_H
#define TY_GEOMETRY_THICKNESS_H

#include <stdbool.h>

#include "core/vec.h"
#include "geometry/sampler.h"

// How thick a solid is, and what lies behind it. `solid` is its distance, negative inside; `cell`
// the scale of what asks. All re-entrant.

// Slope of a distance below which two opposite faces are equally near.
#define TY_SOLID_MIDDLE 0.5

// The unit way out of a solid from x. In the middle of a wall, where both faces are equally near,
// that to one of them; less than a quarter of a cell beside it, up to 40 degrees off.
ty_vec3 ty_solid_way_out(const ty_sampler* solid, double cell, ty_vec3 x);

// Whether a solid with a face at `face`, whose way out is `out`, ends less than `most` metres below
// it. *thickness is how far, not less than `from`. Slits of a fifth of a cell are no end.
bool ty_solid_is_thin(const ty_sampler* solid, double cell, ty_vec3 face, ty_vec3 out, double from,
                      double most, double* thickness);

// How much a thin wall parts liquid and air, 0 to 1, by the liquid's distances at its faces. A free
// surface that goes through the wall less than 27 degrees off its normal has the same liquid on both
// sides: 0. One that has come to an end in the middle of the wall: 1. In walls of more than three
// cells it is 0 again near a contact line, where either face is next to the surface: this is the open
// surface's own continuation. Thinner ones have no room for both.
static inline double ty_solid_parting(double near, double far, double thickness, double cell)
{
    const double through = 0.45, most = 1.5 * cell;
    if ((near < 0.0) == (far < 0.0) || fabs(near - far) <= through * thickness) return 0.0;
    double contact = ty_min(0.5 * thickness - 1.5 * cell, most);
    if (contact <= 0.0) return 1.0;
    double least = ty_min(fabs(near), fabs(far));
    return ty_clamp(2.0 * (least - contact) / contact, 0.0, 1.0);
}

// Whether a free surface goes through a wall as if it were not there, whatever their angle: at
// `face`, out of the wall by the unit vector `out`, the liquid's distance is `near` and has `slope`;
// `thickness` behind it it is as these tell, and where they have the surface come out on either side
// it does. What lies in solids there says nothing. Surfaces less than 15 degrees from the wall's own
// direction are not told from those that end in it: false.
bool ty_solid_is_passed(const ty_sampler* solid, const ty_sampler* liquid, double cell,
                        ty_vec3 face, ty_vec3 out, double thickness, double near, ty_vec3 slope);

#endif
