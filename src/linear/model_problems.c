// SPDX-License-Identifier: Apache-2.0
// Systems on grids, octrees and droplets; writing systems.
#include "linear/model_problems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/memory.h"

void ty_model_free(ty_model* m)
{
    ty_csr_free(&m->a);
    ty_csr_free(&m->prolongation);
    ty_free(m->rhs);
    m->rhs = NULL;
}

typedef TY_ARRAY(ty_entry) entry_list;

// The entries of one face between two cells, or between a cell and air (j < 0).
static bool add_face(entry_list* list, int i, int j, double weight)
{
    bool ok = ty_array_push(list, ((ty_entry){i, i, weight}));
    if (j < 0) return ok;
    return ok && ty_array_push(list, ((ty_entry){j, j, weight})) &&
           ty_array_push(list, ((ty_entry){i, j, -weight})) &&
           ty_array_push(list, ((ty_entry){j, i, -weight}));
}

// Builds the matrix and a right-hand side of noise; frees the list.
static ty_status build(ty_model* m, int n, entry_list* list, bool ok)
{
    ty_status status = ok ? ty_csr_from_entries(&m->a, n, n, list->n, list->at)
                          : ty_no_memory("model system");
    ty_array_free(list);
    TY_TRY(status);
    m->rhs = ty_alloc((size_t)n, sizeof *m->rhs);
    if (!m->rhs) return ty_no_memory("model system");
    for (int i = 0; i < n; ++i) m->rhs[i] = 0.5 + ty_unit(ty_mix2(3, (uint64_t)i));
    return ty_ok();
}

static void remove_mean(double* rhs, int begin, int end)
{
    double mean = 0.0;
    for (int i = begin; i < end; ++i) mean += rhs[i] / (end - begin);
    for (int i = begin; i < end; ++i) rhs[i] -= mean;
}

// Fraction of a face that is open beside the solid ball; never below the smallest that solvers
// give.
static double open_fraction(const double x[3])
{
    static const double smallest = 1e-6;
    double d = sqrt((x[0] - 0.5) * (x[0] - 0.5) + (x[1] - 0.3) * (x[1] - 0.3) +
                    (x[2] - 0.5) * (x[2] - 0.5));
    return fmin(1.0, fmax(smallest, (d - 0.15) / 0.05));
}

static double liquid_distance(const double x[3], bool closed)
{
    return closed ? -1.0 : x[1] - 0.8 - 0.07 * sin(9.0 * x[0] + 2.0) * cos(7.0 * x[2]);
}

typedef struct tank {
    int side;
    bool closed;
    int* id;
    entry_list list;
} tank;

static double cell_distance(const tank* t, const int c[3])
{
    double x[3];
    for (int axis = 0; axis < 3; ++axis) x[axis] = (c[axis] + 0.5) / t->side;
    return liquid_distance(x, t->closed);
}

// A liquid cell and its neighbour one further along `axis` or, at air below, one back.
static bool add_neighbour(tank* t, const int c[3], int axis, int step)
{
    int other[3] = {c[0], c[1], c[2]};
    other[axis] += step;
    if (other[axis] < 0 || other[axis] >= t->side) return true;    // closed sides
    double middle[3];
    for (int k = 0; k < 3; ++k) middle[k] = (0.5 * (c[k] + other[k]) + 0.5) / t->side;
    int i = t->id[(c[2] * t->side + c[1]) * t->side + c[0]];
    int j = t->id[(other[2] * t->side + other[1]) * t->side + other[0]];
    if (j >= 0 && step < 0) return true;    // done from the other side
    double weight = open_fraction(middle);
    if (j < 0) {
        double here = cell_distance(t, c), there = cell_distance(t, other);
        weight /= fmax(0.01, here / (here - there));    // ghost fluid: air at the surface between
    }
    return add_face(&t->list, i, j, weight);
}

ty_status ty_model_grid(ty_model* m, int n_cells, double mass, bool closed)
{
    ty_model_free(m);
    tank t = {.side = (int)lround(cbrt(n_cells / (closed ? 1.0 : 0.8))), .closed = closed};
    if (t.side < 1) t.side = 1;
    size_t cells = (size_t)t.side * (size_t)t.side * (size_t)t.side;
    t.id = ty_alloc(cells, sizeof *t.id);
    if (!t.id) return ty_no_memory("model grid");
    int n = 0;
    bool ok = true;
    int c[3];
    for (size_t k = 0; k < cells; ++k) {
        c[0] = (int)(k % (size_t)t.side), c[1] = (int)(k / (size_t)t.side) % t.side;
        c[2] = (int)(k / (size_t)t.side / (size_t)t.side);
        t.id[k] = cell_distance(&t, c) < 0.0 ? n++ : -1;
    }
    for (size_t k = 0; k < cells; ++k) {
        if (t.id[k] < 0) continue;
        c[0] = (int)(k % (size_t)t.side), c[1] = (int)(k / (size_t)t.side) % t.side;
        c[2] = (int)(k / (size_t)t.side / (size_t)t.side);
        for (int axis = 0; axis < 3; ++axis)
            for (int step = -1; step <= 1; step += 2) ok = ok && add_neighbour(&t, c, axis, step);
        if (mass > 0.0) ok = ok && add_face(&t.list, t.id[k], -1, 6.0 * mass);
    }
    ty_free(t.id);
    TY_TRY(build(m, n, &t.list, ok));
    if (closed && mass == 0.0) remove_mean(m->rhs, 0, n);
    return ty_ok();
}

typedef struct leaf {
    int at[3], size;    // in units of the finest cell
} leaf;

typedef struct tree {
    int extent;    // finest cells per side
    TY_ARRAY(leaf) leaves;
    int* owner;    // leaf of each finest cell
    entry_list list;
    bool ok;
} tree;

static void refine(tree* t, leaf here)
{
    double d = 0.0, half = 0.5 * here.size;
    for (int axis = 0; axis < 3; ++axis) {
        double x = here.at[axis] + half - 0.45 * t->extent;
        d += x * x;
    }
    bool near = fabs(sqrt(d) - 0.3 * t->extent) < 1.8 * here.size;
    if (here.size == 1 || !near) {
        t->ok = t->ok && ty_array_push(&t->leaves, here);
        return;
    }
    for (int child = 0; child < 8; ++child) {
        leaf c = {{0}, here.size / 2};
        for (int axis = 0; axis < 3; ++axis)
            c.at[axis] = here.at[axis] + (child >> axis & 1) * c.size;
        refine(t, c);
    }
}

// All finest squares on the upper side of a leaf in `axis`: each adds its area over the distance of
// centres.
static void add_side(tree* t, int i, int axis, bool up)
{
    leaf here = t->leaves.at[i];
    int b = (axis + 1) % 3, c = (axis + 2) % 3, cell[3];
    cell[axis] = here.at[axis] + (up ? here.size : -1);
    for (int u = 0; u < here.size; ++u) {
        for (int v = 0; v < here.size; ++v) {
            cell[b] = here.at[b] + u;
            cell[c] = here.at[c] + v;
            bool outside = cell[axis] < 0 || cell[axis] >= t->extent;
            int64_t key = ((int64_t)cell[2] * t->extent + cell[1]) * t->extent + cell[0];
            int j = outside ? -1 : t->owner[key];
            if (!outside && !up) continue;
            double distance = outside ? 0.5 * here.size : 0.5 * (here.size + t->leaves.at[j].size);
            t->ok = t->ok && add_face(&t->list, i, j, 1.0 / distance);
        }
    }
}

static void own(tree* t, int i)
{
    leaf l = t->leaves.at[i];
    for (int z = 0; z < l.size; ++z)
        for (int y = 0; y < l.size; ++y)
            for (int x = 0; x < l.size; ++x)
                t->owner[((int64_t)(l.at[2] + z) * t->extent + l.at[1] + y) * t->extent + l.at[0] +
                         x] = i;
}

ty_status ty_model_octree(ty_model* m, int base, int levels)
{
    ty_model_free(m);
    tree t = {.extent = base << levels, .ok = true};
    size_t cells = (size_t)t.extent * (size_t)t.extent * (size_t)t.extent;
    t.owner = ty_alloc(cells, sizeof *t.owner);
    if (!t.owner) return ty_no_memory("model octree");
    int size = 1 << levels;
    for (int k = 0; k < base * base * base; ++k)
        refine(&t, (leaf){{k % base * size, k / base % base * size, k / base / base * size}, size});
    for (int i = 0; i < t.leaves.n && t.ok; ++i) own(&t, i);
    for (int i = 0; i < t.leaves.n && t.ok; ++i)
        for (int side = 0; side < 6; ++side) add_side(&t, i, side / 2, side % 2 != 0);
    int n = (int)t.leaves.n;
    ty_free(t.owner);
    ty_array_free(&t.leaves);
    return build(m, n, &t.list, t.ok);
}

// A box of cells numbered from `first`; its outside is air where the low z side is, unless closed.
static bool add_box(entry_list* list, int first, const int size[3], bool closed)
{
    bool ok = true;
    for (int k = 0; k < size[0] * size[1] * size[2]; ++k) {
        int c[3] = {k % size[0], k / size[0] % size[1], k / size[0] / size[1]}, stride = 1;
        for (int axis = 0; axis < 3; stride *= size[axis++])
            if (c[axis] + 1 < size[axis])
                ok = ok && add_face(list, first + k, first + k + stride, 1.0);
        if (c[2] == 0 && !closed) ok = ok && add_face(list, first + k, -1, 2.0);
    }
    return ok;
}

ty_status ty_model_droplets(ty_model* m, int pool, int n_droplets)
{
    ty_model_free(m);
    entry_list list = {0};
    TY_ARRAY(int) starts = {0};
    int n = pool * pool * pool;
    bool ok = add_box(&list, 0, (int[3]){pool, pool, pool}, false) &&
              ty_array_resize(&starts, n_droplets + 1);
    for (int d = 0; d < n_droplets && ok; ++d) {
        uint64_t h = ty_mix2(11, (uint64_t)d);
        int size[3] = {1 + (int)(h % 3), 1 + (int)(h / 3 % 3), 1 + (int)(h / 9 % 3)};
        starts.at[d] = n;
        bool empty = d % 11 == 10;
        if (!empty) ok = add_box(&list, n, size, d % 5 == 4);
        n += empty ? 1 : size[0] * size[1] * size[2];
        starts.at[d + 1] = n;
    }
    ty_status status = build(m, n, &list, ok);
    for (int d = 0; d < n_droplets && status.code == TY_OK; ++d)
        if (d % 11 == 10 || d % 5 == 4) remove_mean(m->rhs, starts.at[d], starts.at[d + 1]);
    ty_array_free(&starts);
    return status;
}

static bool write_matrix(const ty_csr* a, FILE* file)
{
    int64_t lower = 0;
    for (int i = 0; i < a->n; ++i)
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k) lower += a->col[k] <= i;
    fprintf(file, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %lld\n", a->n, a->n,
            (long long)lower);
    for (int i = 0; i < a->n; ++i)
        for (int k = a->row_start[i]; k < a->row_start[i + 1]; ++k)
            if (a->col[k] <= i) fprintf(file, "%d %d %.17g\n", i + 1, a->col[k] + 1, a->val[k]);
    return !ferror(file);
}

static bool write_vector(int n, const double* x, FILE* file)
{
    fprintf(file, "%%%%MatrixMarket matrix array real general\n%d 1\n", n);
    for (int i = 0; i < n; ++i) fprintf(file, "%.17g\n", x[i]);
    return !ferror(file);
}

ty_status ty_model_write(const ty_model* m, const char* path)
{
    char rhs_path[4096];
    snprintf(rhs_path, sizeof rhs_path, "%s.rhs.mtx", path);
    const char* paths[2] = {path, rhs_path};
    for (int k = 0; k < 2; ++k) {
        FILE* file = fopen(paths[k], "w");
        if (!file) return ty_io_error("open", paths[k]);
        bool ok = k == 0 ? write_matrix(&m->a, file) : write_vector(m->a.n, m->rhs, file);
        if (fclose(file) != 0 || !ok) return ty_io_error("write", paths[k]);
    }
    return ty_ok();
}
