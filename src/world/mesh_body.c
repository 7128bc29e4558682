// SPDX-License-Identifier: Apache-2.0
#include "world/mesh_body.h"

#include <limits.h>
#include <string.h>

#include "format/mesh_io.h"

static const double GRADIENT_STEP = 0.1;    // cells

static void turn_round(ty_tri_mesh* m)
{
    for (int t = 0; t < m->n_tris; ++t) {
        int swap = m->tri[t][1];
        m->tri[t][1] = m->tri[t][2];
        m->tri[t][2] = swap;
    }
}

ty_status ty_mesh_body_read(ty_tri_mesh* mesh, const char* path, double scale,
                            const double offset[3])
{
    TY_TRY(ty_mesh_read(mesh, path));
    for (int v = 0; v < mesh->n_verts; ++v)
        ty_store3(mesh->vert[v], scale * ty_load3(mesh->vert[v]) + ty_load3(offset));
    if (mesh->n_tris == 0) return ty_fail_at(TY_BAD_INPUT, path, 0, 0, "no triangles in this file");
    if (ty_tri_mesh_volume(mesh) < 0.0) turn_round(mesh);
    return ty_ok();
}

static ty_status read_frame(ty_mesh_body* b, int slot, int frame)
{
    char path[TY_PATH_SIZE];
    ty_sequence_path(&b->files, frame, path);
    b->loaded[slot] = INT_MIN;
    ty_status s = ty_mesh_body_read(&b->key[slot], path, b->scale, b->offset);
    if (s.code != TY_OK) return ty_sequence_fail(&b->files, &s);
    b->loaded[slot] = frame;
    return ty_ok();
}

static void swap_keys(ty_mesh_body* b)
{
    ty_tri_mesh mesh = b->key[0];
    b->key[0] = b->key[1];
    b->key[1] = mesh;
    int frame = b->loaded[0];
    b->loaded[0] = b->loaded[1];
    b->loaded[1] = frame;
}

static bool agree(const ty_tri_mesh* a, const ty_tri_mesh* b)
{
    return a->n_verts == b->n_verts && a->n_tris == b->n_tris &&
           memcmp(a->tri, b->tri, (size_t)a->n_tris * sizeof *a->tri) == 0;
}

// The rule that AUTO finds for the first frame may be wrong for a later one, which may cross
// itself: rays then.
static ty_status build(ty_mesh_body* b, int slot, const ty_tri_mesh* m)
{
    ty_mesh_distance_def def = ty_mesh_distance_default();
    if (ty_sequence_changes(&b->files) && b->distance[0].sign != TY_SIGN_AUTO)
        def.sign = b->distance[0].sign == TY_SIGN_WINDING ? TY_SIGN_WINDING : TY_SIGN_CROSSINGS;
    return ty_mesh_distance_build(&b->distance[slot], &def, m->n_verts, (const double(*)[3])m->vert,
                                  m->n_tris, (const int(*)[3])m->tri);
}

// Both frames of b->at into the slots; `fresh` when something was read.
static ty_status load_keys(ty_mesh_body* b, bool* fresh)
{
    *fresh = false;
    if (b->loaded[0] != b->at.frame[0] && b->loaded[1] == b->at.frame[0])
        swap_keys(b), *fresh = true;
    for (int slot = 0; slot < 2; ++slot) {
        if (b->loaded[slot] == b->at.frame[slot] || (slot == 1 && b->at.frame[1] == b->at.frame[0]))
            continue;
        TY_TRY(read_frame(b, slot, b->at.frame[slot]));
        *fresh = true;
    }
    return ty_ok();
}

static ty_status interpolate(ty_mesh_body* b)
{
    const ty_tri_mesh *from = &b->key[0], *to = &b->key[b->moves ? 1 : 0];
    TY_TRY(ty_tri_mesh_resize(&b->now, from->n_verts, from->n_tris));
    memcpy(b->now.tri, from->tri, (size_t)from->n_tris * sizeof *from->tri);
    for (int v = 0; v < from->n_verts; ++v)
        ty_store3(b->now.vert[v],
                  ty_lerp3(ty_load3(from->vert[v]), ty_load3(to->vert[v]), b->at.weight));
    return build(b, 0, &b->now);
}

ty_status ty_mesh_body_move(ty_mesh_body* b, double t, bool starting)
{
    ty_between last = b->at;
    bool fresh;
    b->at = ty_sequence_at(&b->files, t, starting);
    TY_TRY(load_keys(b, &fresh));
    b->moves = b->at.frame[0] != b->at.frame[1];
    b->same = !b->moves || agree(&b->key[0], &b->key[1]);
    b->exact = b->same;
    if (!fresh && memcmp(&last, &b->at, sizeof last) == 0) return ty_ok();
    if (b->same) return interpolate(b);
    if (!fresh && last.frame[0] == b->at.frame[0] && last.frame[1] == b->at.frame[1])
        return ty_ok();
    TY_TRY(build(b, 0, &b->key[0]));
    return build(b, 1, &b->key[1]);
}

ty_status ty_mesh_body_create(ty_mesh_body** body, const ty_shape_def* def, double cell)
{
    *body = NULL;
    ty_mesh_body* b = ty_alloc_zero(1, sizeof *b);
    if (!b) return ty_no_memory("mesh");
    b->scale = def->scale;
    b->step = GRADIENT_STEP * cell;
    b->loaded[0] = b->loaded[1] = INT_MIN;
    ty_store3(b->offset, ty_load3(def->offset));
    ty_status status;
    TY_TRY_GOTO(status,
                ty_sequence_open(&b->files, def->file, def->file_rate, def->file_start, def->place),
                failed);
    b->at = (ty_between){{INT_MIN, INT_MIN}, 0.0};
    TY_TRY_GOTO(status, ty_mesh_body_move(b, 0.0, true), failed);
    *body = b;
    return ty_ok();
failed:
    ty_mesh_body_destroy(b);
    return status;
}

void ty_mesh_body_destroy(ty_mesh_body* b)
{
    if (!b) return;
    for (int slot = 0; slot < 2; ++slot) {
        ty_tri_mesh_free(&b->key[slot]);
        ty_mesh_distance_free(&b->distance[slot]);
    }
    ty_tri_mesh_free(&b->now);
    ty_free(b);
}

void ty_mesh_body_distance(const ty_mesh_body* b, int n, const double (*x)[3], double* out)
{
    ty_mesh_distance_eval(&b->distance[0], n, x, out, NULL);
    if (b->same) return;
    double later[TY_SAMPLE_BATCH];
    ty_mesh_distance_eval(&b->distance[1], n, x, later, NULL);
    for (int i = 0; i < n; ++i) out[i] += b->at.weight * (later[i] - out[i]);
}

// Weights of the corners at a point of the triangle.
static ty_vec3 barycentric(const ty_tri_mesh* m, int t, ty_vec3 p)
{
    ty_vec3 a = ty_load3(m->vert[m->tri[t][0]]), ab = ty_load3(m->vert[m->tri[t][1]]) - a;
    ty_vec3 ac = ty_load3(m->vert[m->tri[t][2]]) - a, n = ty_cross(ab, ac), ap = p - a;
    double square = ty_dot(n, n);
    if (square <= 0.0) return ty_vec(1, 0, 0);
    double v = ty_dot(ty_cross(ap, ac), n) / square, w = ty_dot(ty_cross(ab, ap), n) / square;
    return ty_vec(1.0 - v - w, v, w);
}

static void velocity_on_triangles(const ty_mesh_body* b, int n, const double (*x)[3],
                                  double (*out)[3])
{
    double d[TY_SAMPLE_BATCH], point[TY_SAMPLE_BATCH][3];
    int triangle[TY_SAMPLE_BATCH];
    ty_closest_points closest = {.triangle = triangle, .point = point};
    ty_mesh_distance_eval(&b->distance[0], n, x, d, &closest);
    for (int i = 0; i < n; ++i) {
        ty_vec3 v = ty_vec(0, 0, 0);
        ty_vec3 weight = triangle[i] < 0 ? v
                                         : barycentric(&b->now, triangle[i], ty_load3(point[i]));
        for (int k = 0; triangle[i] >= 0 && k < 3; ++k) {
            int vert = b->now.tri[triangle[i]][k];
            v += weight[k] * (ty_load3(b->key[1].vert[vert]) - ty_load3(b->key[0].vert[vert]));
        }
        ty_store3(out[i], b->files.rate * v);
    }
}

// -d_t grad d / |grad d|^2 of the mixed distance.
static void velocity_of_zero(const ty_mesh_body* b, int n, const double (*x)[3], double (*out)[3])
{
    double first[TY_SAMPLE_BATCH], second[TY_SAMPLE_BATCH], at[TY_SAMPLE_BATCH][3];
    double lo[TY_SAMPLE_BATCH], hi[TY_SAMPLE_BATCH], h = b->step;
    ty_mesh_distance_eval(&b->distance[0], n, x, first, NULL);
    ty_mesh_distance_eval(&b->distance[1], n, x, second, NULL);
    memcpy(at, x, (size_t)n * sizeof *at);
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < n; ++i) at[i][axis] = x[i][axis] - h;
        ty_mesh_body_distance(b, n, (const double(*)[3])at, lo);
        for (int i = 0; i < n; ++i) at[i][axis] = x[i][axis] + h;
        ty_mesh_body_distance(b, n, (const double(*)[3])at, hi);
        for (int i = 0; i < n; ++i)
            at[i][axis] = x[i][axis], out[i][axis] = (hi[i] - lo[i]) / (2.0 * h);
    }
    for (int i = 0; i < n; ++i) {
        ty_vec3 g = ty_load3(out[i]);
        double square = ty_dot(g, g), rate = b->files.rate * (second[i] - first[i]);
        ty_store3(out[i], square > 0.0 ? -rate / square * g : g);
    }
}

void ty_mesh_body_velocity(const ty_mesh_body* b, int n, const double (*x)[3], double (*out)[3])
{
    if (!b->moves) memset(out, 0, (size_t)n * sizeof *out);
    else if (b->same) velocity_on_triangles(b, n, x, out);
    else velocity_of_zero(b, n, x, out);
}

ty_box ty_mesh_body_bounds(const ty_mesh_body* b)
{
    if (b->same) return ty_tri_mesh_bounds(&b->now);
    ty_box first = ty_tri_mesh_bounds(&b->key[0]), second = ty_tri_mesh_bounds(&b->key[1]);
    ty_store3(first.lo, ty_min3(ty_load3(first.lo), ty_load3(second.lo)));
    ty_store3(first.hi, ty_max3(ty_load3(first.hi), ty_load3(second.hi)));
    return first;
}

// Of vertices; between different triangles, how far the second frame's vertices are from the first
// frame.
double ty_mesh_body_speed(const ty_mesh_body* b)
{
    double largest = 0.0;
    const ty_tri_mesh* to = &b->key[1];
    for (int v = 0; b->moves && v < to->n_verts; ++v) {
        double way;
        if (b->same) way = ty_norm(ty_load3(to->vert[v]) - ty_load3(b->key[0].vert[v]));
        else
            ty_mesh_distance_eval(&b->distance[0], 1, (const double(*)[3])to->vert + v, &way, NULL);
        largest = fmax(largest, fabs(way));
    }
    return b->files.rate * largest;
}
