// SPDX-License-Identifier: Apache-2.0
// tethys bench amg: seconds and iterations of the linear solvers on one system. Every method runs
// in a process of its own, so that peak_mib is its own.
#include "cli/bench_amg.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/config.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "linear/solve.h"
#include "mesh/stuff.h"

enum { MAX_METHODS = 8 };

typedef struct options {
    const char* system;
    const char* dump;
    const char* methods;
    int size, threads, repeat, sweeps;
    double tolerance;
    bool json, uniform, lattice, processor_time;
} options;

static const char usage_text[] =
    "usage: tethys bench amg [--system face|nodal|two-point|grid|octree|viscosity] [--size N] "
    "[--threads N] [--json]\n"
    "                        [--methods default,multigrid,paper,ic,jacobi,hypre] [--dump FILE.mtx] "
    "[--repeat N]\n"
    "                        [--tolerance X] [--sweeps N] [--uniform] [--lattice]\n"
    "\n"
    "  --size N       tetrahedra of a ball (face, nodal, two-point), or cells (default 100000)\n"
    "  --uniform      the finest tetrahedra everywhere, instead of larger ones inside\n"
    "  --lattice      a ball cut out of a lattice, instead of a stuffed one\n"
    "  --cpu          seconds of the processor instead of the clock: for a busy machine, one "
    "thread\n"
    "  --repeat N     set-ups and solves of each method, the fastest counts (default 3)\n"
    "  --dump FILE    writes the system as MatrixMarket: FILE and FILE.rhs.mtx\n";

static void ball_distance(const void* self, int n, const double (*x)[3], double* out)
{
    double radius = *(const double*)self;
    for (int i = 0; i < n; ++i)
        out[i] = sqrt(x[i][0] * x[i][0] + x[i][1] * x[i][1] + x[i][2] * x[i][2]) - radius;
}

// A stuffed ball of cells of size 1; how many tets it gets depends on the grading, so the radius is
// tried.
static ty_status stuff_ball(const options* o, ty_tet_mesh* mesh)
{
    enum { TRIES = 8 };
    static const double close_enough = 0.03;
    double radius = cbrt(o->size / 12.0 /
                         4.18879);    // 12 tets to a cell, were all cells of size 1
    ty_sampler phi = {.self = &radius, .width = 1, .exact_band = INFINITY, .eval = ball_distance};
    ty_stuff scratch = {0};
    ty_status status = ty_ok();
    for (int k = 0; k < TRIES && status.code == TY_OK; ++k) {
        ty_stuff_def def = ty_stuff_default();
        def.cell = 1.0;
        def.uniform = o->uniform;
        def.faces = false;
        for (int axis = 0; axis < 3; ++axis) {
            def.origin[axis] = 0.31 * axis;    // the lattice knows nothing of the ball's symmetry
            def.box.lo[axis] = -radius;
            def.box.hi[axis] = radius;
        }
        status = ty_stuff_mesh(&scratch, &phi, &def, mesh);
        double ratio = (double)mesh->n_tets / o->size;
        if (fabs(ratio - 1.0) < close_enough || o->uniform) break;
        radius /= sqrt(ratio);    // most tets are at the surface
    }
    ty_stuff_free(&scratch);
    return status;
}

static ty_status make_tets(const options* o, ty_model_system system, ty_model* model)
{
    static const double lattice_jitter = 0.08;
    if (o->lattice) {
        ty_model_mesh ball;
        TY_TRY(ty_model_ball(&ball, o->size, lattice_jitter, 1.0));
        ty_status status = ty_model_tets(model, &ball, system, TY_MODEL_AIR_ALL);
        ty_model_mesh_free(&ball);
        return status;
    }
    ty_tet_mesh mesh = {0};
    ty_status status = stuff_ball(o, &mesh);
    ty_model_mesh view = {mesh.n_verts, mesh.n_tets, mesh.vert, mesh.tet};
    if (status.code == TY_OK) status = ty_model_tets(model, &view, system, TY_MODEL_AIR_ALL);
    ty_tet_mesh_free(&mesh);
    return status;
}

static ty_status make_system(const options* o, ty_model* model)
{
    static const char* const tet_systems[3] = {"two-point", "nodal", "face"};
    if (strcmp(o->system, "grid") == 0) return ty_model_grid(model, o->size, 0.0, false);
    if (strcmp(o->system, "viscosity") == 0) return ty_model_grid(model, o->size, 1.0, false);
    if (strcmp(o->system, "octree") == 0)
        return ty_model_octree(model, o->size / 1000 > 16 ? 16 : 8, 3);
    for (int s = 0; s < 3; ++s)
        if (strcmp(o->system, tet_systems[s]) == 0) return make_tets(o, (ty_model_system)s, model);
    return ty_fail(TY_BAD_INPUT, "there is no system '%s'; see tethys bench amg --help", o->system);
}

static double resident_mib(void)
{
    long pages = 0, total = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (!file) return 0.0;
    if (fscanf(file, "%ld %ld", &total, &pages) != 2) pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1024.0 * 1024.0);
}

double bench_now(bool processor_time)
{
    struct timespec t;
    clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ty_status run_ours(const options* o, const ty_model* model, bench_result* out)
{
    ty_linear_def def = ty_linear_default();
    def.tolerance = o->tolerance;
    def.max_iterations = 20000;
    def.sweeps = o->sweeps;
    if (!ty_linear_method_parse(out->method, &def.method))
        return ty_fail(TY_BAD_INPUT, "there is no method '%s'; see tethys bench amg --help",
                       out->method);
    ty_linear* solver = NULL;
    double* x = ty_alloc((size_t)model->a.n, sizeof *x);
    ty_status status = x ? ty_linear_create(&solver, &def) : ty_no_memory("solution");
    for (int k = 0; k < o->repeat && status.code == TY_OK; ++k) {
        ty_linear_stats stats;
        memset(x, 0, (size_t)model->a.n * sizeof *x);
        double start = bench_now(o->processor_time);
        status = ty_linear_setup(solver, &model->a,
                                 model->prolongation.n ? &model->prolongation : NULL);
        double middle = bench_now(o->processor_time);
        if (status.code == TY_OK) status = ty_linear_solve(solver, model->rhs, x, &stats);
        double end = bench_now(o->processor_time);
        if (status.code != TY_OK) break;
        if (k > 0 && end - start > out->setup_seconds + out->solve_seconds) continue;
        out->setup_seconds = middle - start;
        out->solve_seconds = end - middle;
        out->iterations = stats.iterations;
        out->residual = stats.last_residual;
        out->levels = stats.levels;
        out->complexity = stats.operator_complexity;
    }
    ty_linear_destroy(solver);
    ty_free(x);
    return status;
}

static ty_status run_method(const options* o, const ty_model* model, bench_result* out)
{
    ty_threads_set(o->threads);
    double before = resident_mib();
    out->peak_mib = 0.0;
#if TETHYS_HAVE_HYPRE
    if (strcmp(out->method, "hypre") == 0)
        TY_TRY(bench_hypre(model, o->tolerance, o->repeat, o->processor_time, out));
    else
#endif
        TY_TRY(run_ours(o, model, out));
    if (!(out->peak_mib > 0.0)) out->peak_mib = ty_memory_peak_mib();
    out->peak_mib -= before;
    return ty_ok();
}

// In a child process; its result comes back through a pipe.
static ty_status run_apart(const options* o, const ty_model* model, bench_result* out)
{
    struct message {
        ty_status status;
        bench_result result;
    } message = {.result = *out};
    int ends[2];
    if (pipe(ends) != 0) return ty_io_error("make a pipe for", out->method);
    ty_threads_stop();
    malloc_trim(0);    // what the child gets from here on is its own
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        message.status = run_method(o, model, &message.result);
        bool ok = write(ends[1], &message, sizeof message) == (ssize_t)sizeof message;
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    size_t got = 0;
    for (ssize_t n; child > 0 && got < sizeof message; got += (size_t)n)
        if ((n = read(ends[0], (char*)&message + got, sizeof message - got)) <= 0) break;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    if (got != sizeof message)
        return ty_fail(TY_IO, "the process of method '%s' ended early", out->method);
    *out = message.result;
    return message.status;
}

static void print_result(const options* o, const ty_model* model, const bench_result* r, bool first)
{
    long long nonzeros = ty_csr_entries(&model->a);
    if (!o->json) {
        printf("%-8s %-9s %9d %10lld %8.3f %8.3f %8.3f %6d  %.1e %3d %6.2f %8.0f\n", r->method,
               o->system, model->a.n, nonzeros, r->setup_seconds, r->solve_seconds,
               r->setup_seconds + r->solve_seconds, r->iterations, r->residual, r->levels,
               r->complexity, r->peak_mib);
        fflush(stdout);
        return;
    }
    char levels[16] = "null", complexity[32] = "null";    // hypre does not tell its complexity
    if (r->levels > 0) snprintf(levels, sizeof levels, "%d", r->levels);
    if (r->complexity > 0.0) snprintf(complexity, sizeof complexity, "%.4f", r->complexity);
    printf(
        "%s{\"method\": \"%s\", \"system\": \"%s\", \"unknowns\": %d, \"nonzeros\": %lld, "
        "\"threads\": %d, \"clock\": \"%s\", "
        "\"setup_seconds\": %.6f, \"solve_seconds\": %.6f, \"iterations\": %d, \"residual\": %.6e, "
        "\"levels\": %s, \"complexity\": %s, \"peak_mib\": %.1f}",
        first ? "[" : ",\n ", r->method, o->system, model->a.n, nonzeros, o->threads,
        o->processor_time ? "cpu" : "wall", r->setup_seconds, r->solve_seconds, r->iterations,
        r->residual, levels, complexity, r->peak_mib);
}

static int run(const options* o)
{
    ty_model model = {0};
    ty_status status = make_system(o, &model);
    if (status.code == TY_OK && o->dump) status = ty_model_write(&model, o->dump);
    if (!o->json && status.code == TY_OK)
        printf("%-8s %-9s %9s %10s %8s %8s %8s %6s  %7s %3s %6s %8s\n", "method", "system",
               "unknowns", "nonzeros", "set-up", "solve", "total", "iter", "resid", "lev", "compl",
               "MiB");
    char list[256];
    snprintf(list, sizeof list, "%s", o->methods);
    bool first = true;
    for (char* name = strtok(list, ","); name && status.code == TY_OK; name = strtok(NULL, ",")) {
        bench_result result = {0};
        snprintf(result.method, sizeof result.method, "%s", name);
        status = run_apart(o, &model, &result);
        if (status.code != TY_OK) break;
        print_result(o, &model, &result, first);
        first = false;
    }
    if (o->json) printf(first ? "[]\n" : "]\n");
    ty_model_free(&model);
    return cli_finish(status);
}

static bool read_real(const char* text, double low, double* out)
{
    char* end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && *out >= low;
}

static bool read_option(options* o, const char* name, const char* value)
{
    if (strcmp(name, "--system") == 0) o->system = value;
    else if (strcmp(name, "--dump") == 0) o->dump = value;
    else if (strcmp(name, "--methods") == 0) o->methods = value;
    else if (strcmp(name, "--size") == 0) return cli_number(name, value, 1, 200000000, &o->size);
    else if (strcmp(name, "--threads") == 0) return cli_number(name, value, 1, 256, &o->threads);
    else if (strcmp(name, "--repeat") == 0) return cli_number(name, value, 1, 1000, &o->repeat);
    else if (strcmp(name, "--sweeps") == 0) return cli_number(name, value, 1, 100, &o->sweeps);
    else if (strcmp(name, "--tolerance") == 0) return read_real(value, 0.0, &o->tolerance);
    else return false;
    return true;
}

int cli_bench_amg(int argc, char** argv)
{
    options o = {.system = "two-point",
                 .size = 100000,
                 .threads = 1,
                 .repeat = 3,
                 .sweeps = 2,
                 .tolerance = 1e-6,
                 .methods = "default,paper,ic"};
    if (TETHYS_HAVE_HYPRE) o.methods = "default,paper,ic,hypre";
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--json") == 0) {
            o.json = true;
        } else if (strcmp(argv[i], "--uniform") == 0) {
            o.uniform = true;
        } else if (strcmp(argv[i], "--cpu") == 0) {
            o.processor_time = true;
        } else if (strcmp(argv[i], "--lattice") == 0) {
            o.lattice = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            fputs(usage_text, stdout);
            return CLI_OK;
        } else if (i + 1 >= argc || !read_option(&o, argv[i], argv[i + 1])) {
            fputs(usage_text, stderr);
            return CLI_USAGE;
        } else {
            ++i;
        }
    }
    return run(&o);
}
