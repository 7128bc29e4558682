// SPDX-License-Identifier: Apache-2.0
#include "render/camera.h"

#include "render/optics.h"

static const double FRAMING_FOV = 30.0;    // degrees: a mild telephoto, so that tanks look straight
static const double FRAMING_MARGIN = 1.08;    // free space around the box

ty_camera ty_camera_make(const double eye[3], const double target[3], const double up[3],
                         double fov, double aspect)
{
    ty_camera c = {.eye = ty_load3(eye)};
    c.forward = ty_normalize(ty_load3(target) - c.eye);
    ty_vec3 right = ty_cross(c.forward, ty_normalize(ty_load3(up)));
    if (ty_norm(right) < 1e-6) ty_frame(c.forward, &right, &c.up);
    c.right = ty_normalize(right);
    c.up = ty_cross(c.right, c.forward);
    c.half_height = tan(fov * TY_PI / 360.0);
    c.half_width = c.half_height * aspect;
    return c;
}

ty_vec3 ty_camera_ray(const ty_camera* c, double x, double y)
{
    return ty_normalize(c->forward + (2.0 * x - 1.0) * c->half_width * c->right +
                        (1.0 - 2.0 * y) * c->half_height * c->up);
}

bool ty_camera_project(const ty_camera* c, const double point[3], double out[2])
{
    ty_vec3 d = ty_load3(point) - c->eye;
    double depth = ty_dot(d, c->forward);
    if (!(depth > 0.0)) return false;
    out[0] = 0.5 + 0.5 * ty_dot(d, c->right) / (depth * c->half_width);
    out[1] = 0.5 - 0.5 * ty_dot(d, c->up) / (depth * c->half_height);
    return true;
}

// The smallest distance from the middle at which every corner is inside the picture.
static double framing_distance(const ty_camera* c, const ty_box* box, ty_vec3 middle)
{
    double far = 0.0;
    for (int i = 0; i < 8; ++i) {
        ty_vec3 d = ty_vec(i & 1 ? box->hi[0] : box->lo[0], i & 2 ? box->hi[1] : box->lo[1],
                           i & 4 ? box->hi[2] : box->lo[2]) -
                    middle;
        double along = ty_dot(d, c->forward);
        far = fmax(far, fabs(ty_dot(d, c->right)) / c->half_width - along);
        far = fmax(far, fabs(ty_dot(d, c->up)) / c->half_height - along);
    }
    return far * FRAMING_MARGIN;
}

ty_camera ty_camera_framing(const ty_box* box, int up_axis, double aspect)
{
    // From the front right and above; with z up, "front" is -y.
    ty_vec3 from = up_axis == 2 ? ty_vec(0.55, -0.9, 0.38) : ty_vec(0.55, 0.38, 0.9);
    ty_vec3 middle = 0.5 * (ty_load3(box->lo) + ty_load3(box->hi));
    double target[3], eye[3], up[3] = {0, 0, 0};
    up[up_axis] = 1.0;
    ty_store3(target, middle);
    ty_store3(eye, middle + ty_normalize(from));
    ty_camera c = ty_camera_make(eye, target, up, FRAMING_FOV, aspect);
    c.eye = middle - fmax(framing_distance(&c, box, middle), 1e-6) * c.forward;
    return c;
}
