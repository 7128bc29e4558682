// SPDX-License-Identifier: Apache-2.0
// Orientation of points, exact sign [Shewchuk1997]: a floating-point filter decides nearly always,
// expansions decide the rest. Exact while no product of coordinate differences overflows or
// underflows (differences between 1e-90 and 1e100 in magnitude are safe). Thread-safe, no set-up
// call.
#ifndef TY_GEOMETRY_PREDICATES_H
#define TY_GEOMETRY_PREDICATES_H

// Sign of (b - a) x (c - a) . (d - a): +1 when d is on the side from which a, b, c run
// counter-clockwise, -1 on the other, 0 in the plane. A tetrahedron a, b, c, d of positive volume
// gives +1.
int ty_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// +1 when a, b, c run counter-clockwise, -1 clockwise, 0 on a line.
int ty_orient2d(const double a[2], const double b[2], const double c[2]);

#endif
