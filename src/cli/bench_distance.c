// SPDX-License-Identifier: Apache-2.0
// tethys bench distance: exact distances to a triangle mesh per second, at random points of its box
// and at the points of a lattice near the surface.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "core/hash.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "space/bvh.h"

typedef struct options {
    int triangles, points, threads;
    bool sphere;
} options;

typedef struct surface {
    int n_verts, n_tris;
    double (*vert)[3];
    int (*tri)[3];
    ty_box box;
} surface;

// Processor time of the one thread, so that a busy machine does not count; wall clock for several.
static double seconds(void)
{
    struct timespec t;
    clock_gettime(ty_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A torus (or sphere with poles) of major radius 1 with waves of 5 %.
static void place(const options* o, double u, double v, double out[3])
{
    double wave = 1.0 + 0.05 * sin(11.0 * u) * sin(7.0 * v);
    double ring = o->sphere ? sin(0.5 * v) : 1.0 + 0.4 * wave * cos(v);
    double height = o->sphere ? cos(0.5 * v) : 0.4 * wave * sin(v);
    double scale = o->sphere ? wave : 1.0;
    out[0] = scale * ring * cos(u);
    out[1] = scale * height;
    out[2] = scale * ring * sin(u);
}

static bool make_surface(const options* o, surface* s)
{
    int rows = (int)sqrt(0.25 * o->triangles), columns = 2 * rows;
    s->n_verts = rows * columns;
    s->n_tris = 2 * rows * columns;
    s->vert = ty_alloc((size_t)s->n_verts, sizeof *s->vert);
    s->tri = ty_alloc((size_t)s->n_tris, sizeof *s->tri);
    if (!s->vert || !s->tri) return false;
    s->box = ty_box_empty();
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
            int a = i * columns + j, right = i * columns + (j + 1) % columns;
            int up = (i + 1) % rows * columns;
            place(o, 2.0 * M_PI * j / columns, 2.0 * M_PI * i / rows, s->vert[a]);
            ty_box_add(&s->box, s->vert[a]);
            memcpy(s->tri[2 * a], (int[3]){a, up + j, right}, 3 * sizeof(int));
            memcpy(s->tri[2 * a + 1], (int[3]){right, up + j, up + (j + 1) % columns},
                   3 * sizeof(int));
        }
    return true;
}

// Of an equilateral triangle of the mean area.
static double mean_edge(const surface* s)
{
    double area = 0.0;
    for (int t = 0; t < s->n_tris; ++t) {
        ty_vec3 a = ty_load3(s->vert[s->tri[t][0]]), b = ty_load3(s->vert[s->tri[t][1]]),
                c = ty_load3(s->vert[s->tri[t][2]]);
        area += 0.5 * ty_norm(ty_cross(b - a, c - a));
    }
    return sqrt(4.0 / sqrt(3.0) * area / s->n_tris);
}

static int random_points(const surface* s, int n, double (*x)[3])
{
    for (int i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis)
            x[i][axis] = s->box.lo[axis] + ty_unit(ty_mix2((uint64_t)i, (uint64_t)axis)) *
                                               (s->box.hi[axis] - s->box.lo[axis]);
    return n;
}

// Points of a lattice of spacing h within 2 h of the surface, in lattice order (x fastest), at most
// `most`.
static int lattice_points(const ty_bvh* bvh, const surface* s, double h, int most, double (*x)[3])
{
    int size[3], n = 0;
    for (int axis = 0; axis < 3; ++axis)
        size[axis] = (int)((s->box.hi[axis] - s->box.lo[axis]) / h) + 5;
    for (int k = 0; k < size[2]; ++k)
        for (int j = 0; j < size[1]; ++j) {
            enum { ROW = 4096 };
            double row[ROW][3], d2[ROW];
            int width = size[0] < ROW ? size[0] : ROW;
            for (int i = 0; i < width; ++i) {
                int cell[3] = {i, j, k};
                for (int axis = 0; axis < 3; ++axis)
                    row[i][axis] = s->box.lo[axis] + (cell[axis] - 2) * h;
            }
            ty_bvh_closest(bvh, width, (const double(*)[3])row, 2.0 * h,
                           &(ty_closest_points){.distance2 = d2});
            for (int i = 0; i < width && n < most; ++i)
                if (isfinite(d2[i])) memcpy(x[n++], row[i], sizeof *x);
        }
    return n;
}

// Points in calls of `batch`; the best of three rounds, in million points a second.
static double rate(const ty_bvh* bvh, int n, double (*x)[3], int batch, double* sum)
{
    double best = INFINITY;
    double* d2 = ty_alloc((size_t)n, sizeof *d2);
    if (!d2) return 0.0;
    for (int round = 0; round < 3; ++round) {
        double start = seconds();
        for (int i = 0; i < n; i += batch)
            ty_bvh_closest(bvh, i + batch < n ? batch : n - i, (const double(*)[3])(x + i),
                           INFINITY, &(ty_closest_points){.distance2 = d2 + i});
        best = fmin(best, seconds() - start);
    }
    *sum = 0.0;
    for (int i = 0; i < n; ++i) *sum += sqrt(d2[i]);
    *sum /= n;
    ty_free(d2);
    return 1e-6 * n / best;
}

static void report(const char* what, const ty_bvh* bvh, int n, double (*x)[3])
{
    double mean = 0.0;
    double small = rate(bvh, n, x, 512, &mean), large = rate(bvh, n, x, n, &mean);
    printf("%-22s %9d points  %7.2f M/s in batches of 512  %7.2f M/s in one batch  mean distance "
           "%.6f\n",
           what, n, small, large, mean);
}

static int run(const options* o)
{
    surface s = {0};
    ty_bvh bvh = {0};
    double(*x)[3] = ty_alloc((size_t)o->points, sizeof *x);
    int code = 1;
    if (!x || !make_surface(o, &s)) goto done;
    double build = INFINITY, refit = INFINITY;
    for (int round = 0; round < 3; ++round) {
        double start = seconds();
        ty_status status = ty_bvh_build(&bvh, s.n_verts, (const double(*)[3])s.vert, s.n_tris,
                                        (const int(*)[3])s.tri);
        if (status.code != TY_OK) goto done;
        build = fmin(build, seconds() - start);
        start = seconds();
        ty_bvh_refit(&bvh, (const double(*)[3])s.vert);
        refit = fmin(refit, seconds() - start);
    }
    printf("%d triangles, %d threads: build %.1f ms, refit %.1f ms, %d nodes, %d leaves (%.1f "
           "triangles each)\n",
           s.n_tris, ty_threads(), 1e3 * build, 1e3 * refit, bvh.n_nodes, bvh.n_leaves,
           (double)s.n_tris / bvh.n_leaves);
    report("random in the box", &bvh, random_points(&s, o->points, x), x);
    report("lattice within 2 cells", &bvh, lattice_points(&bvh, &s, mean_edge(&s), o->points, x),
           x);
    code = 0;
done:
    if (code) fprintf(stderr, "tethys bench distance: out of memory\n");
    ty_bvh_free(&bvh);
    ty_free(s.vert);
    ty_free(s.tri);
    ty_free(x);
    return code;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: tethys bench distance [--triangles N] [--points N] [--threads N] [--sphere]\n");
    return 2;
}

int cli_bench_distance(int argc, char** argv)
{
    options o = {.triangles = 100000, .points = 1000000, .threads = 1};
    for (int i = 1; i < argc; ++i) {
        int* value = strcmp(argv[i], "--triangles") == 0 ? &o.triangles
                     : strcmp(argv[i], "--points") == 0  ? &o.points
                     : strcmp(argv[i], "--threads") == 0 ? &o.threads
                                                         : NULL;
        if (strcmp(argv[i], "--sphere") == 0) o.sphere = true;
        else if (value && i + 1 < argc && atoi(argv[i + 1]) > 0) *value = atoi(argv[++i]);
        else return usage();
    }
    if (o.triangles < 100) o.triangles = 100;
    ty_threads_set(o.threads);
    return run(&o);
}
