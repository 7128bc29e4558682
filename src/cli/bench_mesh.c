// SPDX-License-Identifier: Apache-2.0
// tethys bench mesh: tetrahedra per second, bytes, threads, point location. An analytic sphere,
// uniform and graded, at growing sizes; then a mesh of 100 thousand triangles with its distances.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/mesh.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/parallel.h"
#include "mesh/contour.h"

enum { ROUNDS = 3, N_POINTS = 1000000 };

typedef struct result {
    int tets;
    double seconds, cpu, bytes,
        peak;    // best of the rounds, wall clock and all threads' work; bytes per tet
} result;

typedef struct bench {
    ty_stuff s;
    ty_tet_mesh m;
    bool json, first;
} bench;

static void sphere_eval(const void* self, int n, const double (*x)[3], double* out)
{
    const double* s = self;
    for (int i = 0; i < n; ++i) out[i] = ty_norm(ty_load3(x[i]) - ty_load3(s)) - s[3];
}

// Seconds that all threads together worked; does not count what the machine gave to other programs.
static double cpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ty_status run_case(bench* b, const ty_sampler* phi, double cell, bool uniform, result* r)
{
    ty_stuff_def def = ty_stuff_default();
    def.cell = cell;
    def.uniform = uniform;
    def.box = (ty_box){{-1, -1, -1}, {1, 1, 1}};
    r->seconds = r->cpu = INFINITY;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = ty_clock(), cpu = cpu_clock();
        TY_TRY(ty_stuff_mesh(&b->s, phi, &def, &b->m));
        r->seconds = fmin(r->seconds, ty_clock() - start);
        r->cpu = fmin(r->cpu, cpu_clock() - cpu);
    }
    r->tets = b->m.n_tets;
    r->bytes = (double)ty_tet_mesh_bytes(&b->m) / b->m.n_tets;
    r->peak = ty_memory_peak_mib();
    return ty_ok();
}

static void print(bench* b, const char* name, int threads, const result* r)
{
    double rate = 1e-6 * r->tets / r->seconds;
    if (b->json)
        printf("%s{\"case\": \"%s\", \"threads\": %d, \"tets\": %d, \"seconds\": %.6f, "
               "\"cpu_seconds\": %.6f, "
               "\"million_tets_per_second\": %.4f, "
               "\"bytes_per_tet\": %.1f, \"peak_mib\": %.1f}",
               b->first ? "[" : ",\n ", name, threads, r->tets, r->seconds, r->cpu, rate, r->bytes,
               r->peak);
    else
        printf("%-28s %d thread%s %9d tets %8.3f s (work %.3f s) %6.2f M tets/s %6.1f bytes/tet  "
               "peak %.0f MiB\n",
               name, threads, threads > 1 ? "s" : " ", r->tets, r->seconds, r->cpu, rate, r->bytes,
               r->peak);
    b->first = false;
    fflush(stdout);
}

// The cell for about that many tets: 12 in every finest octant, or, graded, about 41 behind every
// cell of the surface.
static double cell_for(int tets, bool uniform)
{
    return uniform ? cbrt(12.0 * 4.0 / 3.0 * M_PI * 0.343 / tets)
                   : sqrt(41.0 * 4.0 * M_PI * 0.49 / tets);
}

static ty_status bench_sphere(bench* b, int tets, bool uniform, int threads, result* r)
{
    static const double sphere[4] = {0.003, -0.002, 0.001, 0.7};
    ty_sampler phi = {sphere, 1, INFINITY, sphere_eval};
    char name[64];
    ty_threads_set(threads);
    TY_TRY(run_case(b, &phi, cell_for(tets, uniform), uniform, r));
    snprintf(name, sizeof name, "sphere %s", uniform ? "uniform" : "graded");
    print(b, name, threads, r);
    return ty_ok();
}

static ty_status bench_scaling(bench* b, int most, int threads)
{
    result r;
    for (int uniform = 1; uniform >= 0; --uniform)
        for (int tets = 100000; tets <= most; tets *= 10) {
            result one;
            TY_TRY(bench_sphere(b, tets, uniform, 1, &one));
            if (threads < 2 || tets != 1000000) continue;
            TY_TRY(bench_sphere(b, tets, uniform, threads, &r));
            if (!b->json) printf("%28s %.2f times as fast\n", "", one.seconds / r.seconds);
        }
    return ty_ok();
}

// A wavy sphere of about 100 thousand triangles.
static void wavy_eval(const void* self, int n, const double (*x)[3], double* out)
{
    (void)self;
    for (int i = 0; i < n; ++i)
        out[i] = ty_norm(ty_load3(x[i])) - 0.7 -
                 0.03 * sin(9.0 * x[i][0]) * sin(8.0 * x[i][1]) * sin(7.0 * x[i][2]);
}

static ty_status make_surface(ty_tri_mesh* out)
{
    enum { N = 147 };
    ty_sampler phi = {NULL, 1, 0.0, wavy_eval};
    double* values = ty_alloc((size_t)N * N * N, sizeof *values);
    if (!values) return ty_no_memory("bench mesh");
    ty_contour_lattice l = {{-1, -1, -1}, 2.0 / (N - 1), {N, N, N}, values, NULL, 0.0};
    for (int i = 0; i < N * N * N; ++i) {
        double x[1][3] = {
            {-1 + l.cell * (i % N), -1 + l.cell * (i / N % N), -1 + l.cell * (i / N / N)}};
        wavy_eval(NULL, 1, (const double(*)[3])x, &values[i]);
    }
    ty_contour c = {0};
    ty_status status = ty_contour_grid(&c, &l, &phi, TY_CONTOUR_REFINE, out);
    ty_contour_free(&c);
    ty_free(values);
    return status;
}

// From triangles to tets: everything from the hierarchy on is counted.
static ty_status bench_surface(bench* b, int tets, int threads)
{
    ty_tri_mesh surface = {0};
    ty_mesh_distance distance = {0};
    ty_mesh_distance_def def = ty_mesh_distance_default();
    result r = {0};
    ty_threads_set(threads);
    ty_status status = make_surface(&surface);
    double start = ty_clock(), cpu = cpu_clock();
    if (status.code == TY_OK)
        status = ty_mesh_distance_build(&distance, &def, surface.n_verts,
                                        (const double(*)[3])surface.vert, surface.n_tris,
                                        (const int(*)[3])surface.tri);
    double build = ty_clock() - start, build_cpu = cpu_clock() - cpu;
    if (status.code == TY_OK) {
        ty_sampler phi = ty_mesh_distance_sampler(&distance);
        status = run_case(b, &phi, cell_for(tets, false), false, &r);
    }
    if (status.code == TY_OK) {
        char name[64];
        r.seconds += build;
        r.cpu += build_cpu;
        snprintf(name, sizeof name, "from %d triangles", surface.n_tris);
        print(b, name, threads, &r);
    }
    ty_mesh_distance_free(&distance);
    ty_tri_mesh_free(&surface);
    return status;
}

static ty_status bench_location(bench* b, bool random)
{
    double(*x)[3] = ty_alloc(N_POINTS, sizeof *x);
    int* tet = ty_alloc(N_POINTS, sizeof *tet);
    if (!x || !tet) {
        ty_free(x);
        ty_free(tet);
        return ty_no_memory("bench mesh");
    }
    const ty_tet_mesh* m = &b->m;
    for (int i = 0; i < N_POINTS; ++i) {
        uint64_t t = random ? ty_mix((uint64_t)i) % (uint64_t)m->n_tets
                            : (uint64_t)i * (uint64_t)m->n_tets / N_POINTS;
        ty_vec3 sum = ty_vec(0, 0, 0);
        for (int k = 0; k < 4; ++k) sum += (0.1 + 0.1 * (k + 1)) * ty_load3(m->vert[m->tet[t][k]]);
        ty_store3(x[i], sum / 1.4);
    }
    ty_threads_set(1);
    double best = INFINITY, work = INFINITY;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = ty_clock(), cpu = cpu_clock();
        ty_tet_mesh_locate(m, N_POINTS, (const double(*)[3])x, tet);
        best = fmin(best, ty_clock() - start);
        work = fmin(work, cpu_clock() - cpu);
    }
    const char* name = random ? "location, random points" : "location, coherent points";
    if (b->json)
        printf(",\n {\"case\": \"%s\", \"threads\": 1, \"cpu_seconds\": %.6f, "
               "\"million_points_per_second\": %.3f}",
               name, work, 1e-6 * N_POINTS / best);
    else
        printf("%-28s 1 thread  %9d tets %8.3f s (work %.3f s) %6.2f M points/s\n", name, m->n_tets,
               best, work, 1e-6 * N_POINTS / best);
    ty_free(x);
    ty_free(tet);
    return ty_ok();
}

static ty_status run(bench* b, int most, int threads)
{
    TY_TRY(bench_scaling(b, most, threads));
    TY_TRY(bench_surface(b, 1000000, 1));
    TY_TRY(bench_location(b, false));
    return bench_location(b, true);
}

int cli_bench_mesh(int argc, char** argv)
{
    bench b = {.first = true};
    int most = 1000000, threads = 2;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--json") == 0) b.json = true;
        else if (strcmp(argv[i], "--most") == 0 && i + 1 < argc &&
                 cli_number("--most", argv[i + 1], 100000, 100000000, &most))
            ++i;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc &&
                 cli_number("--threads", argv[i + 1], 1, 256, &threads))
            ++i;
        else {
            bool help = strcmp(argv[i], "--help") == 0;
            fprintf(help ? stdout : stderr,
                    "usage: tethys bench mesh [--json] [--most TETS] [--threads N]\n");
            return help ? CLI_OK : CLI_USAGE;
        }
    }
    ty_status status = run(&b, most, threads);
    if (b.json && !b.first) printf("]\n");
    ty_stuff_free(&b.s);
    ty_tet_mesh_free(&b.m);
    return cli_finish(status);
}
