// SPDX-License-Identifier: Apache-2.0
// tethys mesh --preview: the half of the mesh behind its middle, by a small rasteriser: parallel
// light and view, a depth buffer, four samples a pixel.
#include <stdlib.h>
#include <string.h>

#include "cli/mesh.h"
#include "core/config.h"
#include "core/memory.h"

#if TETHYS_HAVE_RENDER
#include <spng.h>

#include "format/file.h"

enum { WIDTH = 1200, HEIGHT = 900, SAMPLES = 2, W = WIDTH * SAMPLES, H = HEIGHT * SAMPLES };

typedef struct canvas {
    float* depth;    // larger is nearer
    unsigned char (*colour)[3];
    ty_vec3 right, up, towards, centre;
    double scale;    // samples per metre
} canvas;

static ty_vec3 project(const canvas* c, const double x[3])
{
    ty_vec3 p = ty_load3(x) - c->centre;
    return ty_vec(0.5 * W + c->scale * ty_dot(p, c->right), 0.5 * H - c->scale * ty_dot(p, c->up),
                  ty_dot(p, c->towards));
}

static void put_sample(canvas* c, int x, int y, double depth, ty_vec3 rgb, bool edge)
{
    int64_t at = (int64_t)y * W + x;
    if (!(depth > c->depth[at])) return;
    c->depth[at] = (float)depth;
    for (int k = 0; k < 3; ++k)
        c->colour[at][k] = (unsigned char)ty_clamp((edge ? 0.35 : 1.0) * rgb[k], 0.0, 255.0);
}

static void draw_triangle(canvas* c, const ty_vec3 p[3], ty_vec3 rgb)
{
    double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) -
                  (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    if (fabs(area) < 1e-9) return;
    int lo[2], hi[2], size[2] = {W, H};
    double height
        [3];    // of the corners above the opposite edges, in samples: for lines of even width
    for (int k = 0; k < 2; ++k) {
        lo[k] = (int)fmax(0.0, floor(fmin(p[0][k], fmin(p[1][k], p[2][k]))));
        hi[k] = (int)fmin(size[k] - 1.0, ceil(fmax(p[0][k], fmax(p[1][k], p[2][k]))));
    }
    for (int i = 0; i < 3; ++i) {
        ty_vec3 e = p[(i + 2) % 3] - p[(i + 1) % 3];
        height[i] = fabs(area) / fmax(hypot(e[0], e[1]), 1e-9);
    }
    for (int y = lo[1]; y <= hi[1]; ++y)
        for (int x = lo[0]; x <= hi[0]; ++x) {
            double w[3], depth = 0.0;
            bool in = true, edge = false;
            for (int i = 0; i < 3; ++i) {
                const ty_vec3 a = p[(i + 1) % 3], b = p[(i + 2) % 3];
                w[i] = ((b[0] - a[0]) * (y + 0.5 - a[1]) - (b[1] - a[1]) * (x + 0.5 - a[0])) / area;
                in &= w[i] >= 0.0;
                edge |= w[i] * height[i] < 0.8;
                depth += w[i] * p[i][2];
            }
            if (in) put_sample(c, x, y, depth, rgb, edge);
        }
}

static bool is_behind(const ty_tet_mesh* m, int t, double plane)
{
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) sum += m->vert[m->tet[t][i]][2];
    return 0.25 * sum < plane;
}

// Cut faces are warm, paler from level to level; the surface is blue.
static ty_vec3 face_colour(const ty_tet_mesh* m, int t, bool surface)
{
    if (surface) return ty_vec(110, 165, 225);
    int level = ty_kind_level(m->kind[t]);
    if (ty_kind_shape(m->kind[t]) == TY_TET_IRREGULAR) return ty_vec(225, 110, 90);
    return ty_vec(235, 200 + fmin(10.0 * level, 40.0), 120 + fmin(35.0 * level, 110.0));
}

static void draw_face(canvas* c, const ty_tet_mesh* m, int t, int face, bool surface)
{
    ty_vec3 x[3], p[3];
    int n = 0;
    for (int i = 0; i < 4; ++i) {
        if (m->tet_face[t][i] == face) continue;
        x[n] = ty_load3(m->vert[m->tet[t][i]]);
        p[n++] = project(c, m->vert[m->tet[t][i]]);
    }
    ty_vec3 normal = ty_normalize(ty_cross(x[1] - x[0], x[2] - x[0]));
    double light = 0.45 + 0.55 * fabs(ty_dot(normal, ty_normalize(ty_vec(0.3, 0.8, 0.55))));
    draw_triangle(c, p, light * face_colour(m, t, surface));
}

static void draw_mesh(canvas* c, const ty_tet_mesh* m, double plane)
{
    for (int f = 0; f < m->n_faces; ++f) {
        int a = m->face_tet[f][0], b = m->face_tet[f][1];
        bool has_a = is_behind(m, a, plane), has_b = b >= 0 && is_behind(m, b, plane);
        if (has_a != has_b) draw_face(c, m, has_a ? a : b, f, b < 0);
    }
}

static void set_view(canvas* c, const ty_tet_mesh* m)
{
    ty_box box = ty_box_empty();
    for (int v = 0; v < m->n_verts; ++v) ty_box_add(&box, m->vert[v]);
    c->centre = 0.5 * (ty_load3(box.lo) + ty_load3(box.hi));
    c->towards = ty_normalize(ty_vec(0.45, 0.4, 1.0));
    c->right = ty_normalize(ty_cross(ty_vec(0, 1, 0), c->towards));
    c->up = ty_cross(c->towards, c->right);
    c->scale = 0.92 * H / fmax(ty_norm(ty_load3(box.hi) - ty_load3(box.lo)), 1e-300);
}

static ty_status write_png(const canvas* c, const char* path)
{
    unsigned char* image = ty_alloc(WIDTH * HEIGHT, 3);
    spng_ctx* png = spng_ctx_new(SPNG_CTX_ENCODER);
    ty_status status = ty_no_memory("the picture");
    for (int i = 0; image && i < WIDTH * HEIGHT * 3; ++i) {
        int x = i / 3 % WIDTH * SAMPLES, y = i / 3 / WIDTH * SAMPLES, sum = 0;
        for (int s = 0; s < SAMPLES * SAMPLES; ++s)
            sum += c->colour[(int64_t)(y + s / SAMPLES) * W + x + s % SAMPLES][i % 3];
        image[i] = (unsigned char)(sum / (SAMPLES * SAMPLES));
    }
    struct spng_ihdr header = {
        .width = WIDTH, .height = HEIGHT, .bit_depth = 8, .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    if (image && png && !spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1) &&
        !spng_set_ihdr(png, &header) &&
        !spng_encode_image(png, image, WIDTH * HEIGHT * 3, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE)) {
        size_t size;
        int error;
        void* bytes = spng_get_png_buffer(png, &size, &error);
        if (bytes) status = ty_file_write(path, bytes, (int64_t)size);
        free(bytes);    // libspng's own, from malloc
    }
    spng_ctx_free(png);
    ty_free(image);
    return status;
}

ty_status mesh_write_preview(const char* path, const ty_tet_mesh* m)
{
    canvas c = {.depth = ty_alloc((size_t)W * H, sizeof *c.depth),
                .colour = ty_alloc((size_t)W * H, 3)};
    ty_status status = ty_no_memory("the picture");
    if (c.depth && c.colour) {
        memset(c.colour, 250, (size_t)W * H * 3);
        for (int64_t i = 0; i < (int64_t)W * H; ++i) c.depth[i] = -INFINITY;
        set_view(&c, m);
        draw_mesh(&c, m, c.centre[2]);
        status = write_png(&c, path);
    }
    ty_free(c.depth);
    ty_free(c.colour);
    return status;
}
#else
ty_status mesh_write_preview(const char* path, const ty_tet_mesh* m)
{
    (void)m;
    return ty_fail(TY_NOT_YET, "cannot draw '%s': this build has no libspng", path);
}
#endif
