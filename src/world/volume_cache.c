// SPDX-License-Identifier: Apache-2.0
#include "world/volume_cache.h"

#include <assert.h>

#include "core/memory.h"
#include "format/volume.h"

typedef struct slot {
    int frame;
    ty_volume* volume;
} slot;

struct ty_volume_cache {
    ty_sequence files;
    const char* grid;
    int width;
    TY_ARRAY(slot) slots;
};

ty_status ty_volume_cache_create(ty_volume_cache** c, const ty_sequence* files, const char* grid,
                                 int width)
{
    *c = ty_alloc_zero(1, sizeof **c);
    if (!*c) return ty_no_memory("volumes");
    (*c)->files = *files;
    (*c)->grid = grid;
    (*c)->width = width;
    return ty_ok();
}

static void drop(slot* s)
{
    ty_volume_free(s->volume);
    ty_free(s->volume);
}

void ty_volume_cache_destroy(ty_volume_cache* c)
{
    if (!c) return;
    for (int64_t i = 0; i < c->slots.n; ++i) drop(&c->slots.at[i]);
    ty_array_free(&c->slots);
    ty_free(c);
}

static const ty_volume* find(const ty_volume_cache* c, int frame)
{
    for (int64_t i = 0; i < c->slots.n; ++i)
        if (c->slots.at[i].frame == frame) return c->slots.at[i].volume;
    return NULL;
}

static ty_status read_frame(const ty_volume_cache* c, int frame, ty_volume* v)
{
    char path[TY_PATH_SIZE];
    const ty_place* place = &c->files.place;
    ty_sequence_path(&c->files, frame, path);
    ty_status s = ty_volume_read(v, path, c->grid);
    if (s.code != TY_OK) return ty_sequence_fail(&c->files, &s);
    if (v->width == c->width) return ty_ok();
    ty_status wrong = ty_fail_at(TY_BAD_INPUT, place->file, place->line, place->column,
                                 "grid '%s' of '%s' holds %s, needed is one of %s", v->name, path,
                                 v->width == 3 ? "vectors" : "numbers",
                                 c->width == 3 ? "vectors" : "numbers");
    ty_volume_free(v);
    return wrong;
}

static ty_status load_frame(ty_volume_cache* c, int frame)
{
    if (find(c, frame)) return ty_ok();
    slot s = {frame, ty_alloc_zero(1, sizeof *s.volume)};
    if (!s.volume || !ty_array_reserve(&c->slots, c->slots.n + 1)) {
        ty_free(s.volume);
        return ty_no_memory("volumes");
    }
    ty_status status = read_frame(c, frame, s.volume);
    if (status.code != TY_OK) ty_free(s.volume);
    else c->slots.at[c->slots.n++] = s;
    return status;
}

ty_status ty_volume_cache_load(ty_volume_cache* c, double t0, double t1)
{
    int first = ty_sequence_at(&c->files, t0, false).frame[0],
        last = ty_sequence_at(&c->files, t1, true).frame[1];
    int64_t kept = 0;
    for (int64_t i = 0; i < c->slots.n; ++i) {
        slot s = c->slots.at[i];
        if (s.frame < first || s.frame > last) drop(&s);
        else c->slots.at[kept++] = s;
    }
    c->slots.n = kept;
    for (int frame = first; frame <= last; ++frame) TY_TRY(load_frame(c, frame));
    return ty_ok();
}

bool ty_volume_cache_changes(const ty_volume_cache* c) { return ty_sequence_changes(&c->files); }

// Both frames' values, combined as (1 - weight) first + weight second, times factor.
static void combine(const ty_volume_cache* c, const ty_between* at, double first, double second,
                    int n, const double (*x)[3], double* out)
{
    double later[TY_SAMPLE_BATCH * 3];
    const ty_volume *a = find(c, at->frame[0]), *b = find(c, at->frame[1]);
    assert(a && b);
    ty_sampler sample_a = ty_volume_sampler(a), sample_b = ty_volume_sampler(b);
    for (int begin = 0; begin < n; begin += TY_SAMPLE_BATCH) {
        int m = n - begin < TY_SAMPLE_BATCH ? n - begin : TY_SAMPLE_BATCH;
        double* to = out + (int64_t)begin * c->width;
        ty_sample(&sample_a, m, x + begin, to);
        if (second == 0.0 && first == 1.0) continue;
        ty_sample(&sample_b, m, x + begin, later);
        for (int i = 0; i < m * c->width; ++i) to[i] = first * to[i] + second * later[i];
    }
}

void ty_volume_cache_eval(const ty_volume_cache* c, double t, int n, const double (*x)[3],
                          double* out)
{
    ty_between at = ty_sequence_at(&c->files, t, false);
    combine(c, &at, 1.0 - at.weight, at.weight, n, x, out);
}

void ty_volume_cache_rate(const ty_volume_cache* c, double t, int n, const double (*x)[3],
                          double* out)
{
    ty_between at = ty_sequence_at(&c->files, t, false);
    combine(c, &at, -c->files.rate, c->files.rate, n, x, out);
}

ty_box ty_volume_cache_bounds(const ty_volume_cache* c, double t)
{
    ty_between at = ty_sequence_at(&c->files, t, false);
    ty_box a = ty_volume_bounds(find(c, at.frame[0])), b = ty_volume_bounds(find(c, at.frame[1]));
    ty_store3(a.lo, ty_min3(ty_load3(a.lo), ty_load3(b.lo)));
    ty_store3(a.hi, ty_max3(ty_load3(a.hi), ty_load3(b.hi)));
    return a;
}

double ty_volume_cache_cell(const ty_volume_cache* c, double t)
{
    ty_between at = ty_sequence_at(&c->files, t, false);
    return fmin(find(c, at.frame[0])->cell, find(c, at.frame[1])->cell);
}
