// SPDX-License-Identifier: Apache-2.0
// A pinhole camera. Picture coordinates run from 0 to 1, to the right and downwards.
#ifndef TY_RENDER_CAMERA_H
#define TY_RENDER_CAMERA_H

#include <stdbool.h>

#include "core/vec.h"

// Value.
typedef struct ty_camera {
    ty_vec3 eye, forward, right, up;    // unit vectors
    double half_height, half_width;     // tangents of half the angle of view
} ty_camera;

// `fov`: vertical, degrees; `aspect`: width over height. Looking straight along `up` takes another
// up.
ty_camera ty_camera_make(const double eye[3], const double target[3], const double up[3],
                         double fov, double aspect);
// The direction (length one) through a point of the picture.
ty_vec3 ty_camera_ray(const ty_camera* camera, double x, double y);
// Where a point is seen; false when it is not in front of the camera.
bool ty_camera_project(const ty_camera* camera, const double point[3], double out[2]);
// A camera that sees a whole box from the front, a little from the side and from above.
ty_camera ty_camera_framing(const ty_box* box, int up_axis, double aspect);

#endif
