// SPDX-License-Identifier: Apache-2.0
#include "world/varying.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "world/pose.h"
#include "world/volume_cache.h"

ty_varying ty_varying_number(double value)
{
    return (ty_varying){.width = 1, .constant = {value}, .volume_rate = 24.0, .volume_start = 1};
}

ty_varying ty_varying_vector(double x, double y, double z)
{
    return (ty_varying){.width = 3, .constant = {x, y, z}, .volume_rate = 24.0, .volume_start = 1};
}

void ty_varying_free(ty_varying* v)
{
    for (int i = 0; i < 3; ++i) ty_expr_destroy(v->expr[i]);
    ty_free(v->keys);
    ty_free(v->volume_file);
    ty_free(v->volume_grid);
    ty_volume_cache_destroy(v->volumes);
    *v = (ty_varying){.width = v->width};
}

void ty_varying_unload(ty_varying* v)
{
    ty_volume_cache_destroy(v->volumes);
    v->volumes = NULL;
}

bool ty_varying_in_space(const ty_varying* v)
{
    for (int i = 0; v->kind == TY_VARY_EXPRESSION && i < v->width; ++i)
        if (v->expr[i] && ty_expr_uses_space(v->expr[i])) return true;
    return v->kind == TY_VARY_VOLUME;
}

bool ty_varying_in_time(const ty_varying* v)
{
    for (int i = 0; v->kind == TY_VARY_EXPRESSION && i < v->width; ++i)
        if (v->expr[i] && ty_expr_uses_time(v->expr[i])) return true;
    if (v->kind == TY_VARY_VOLUME) return v->volume_file && strchr(v->volume_file, '#');
    return v->kind == TY_VARY_KEYS && v->n_keys > 1;
}

bool ty_varying_is_constant(const ty_varying* v)
{
    return !ty_varying_in_space(v) && !ty_varying_in_time(v);
}

ty_status ty_varying_prepare(ty_varying* v, double t0, double t1)
{
    if (v->kind != TY_VARY_VOLUME) return ty_ok();
    if (!v->volumes) {
        ty_sequence files;
        TY_TRY(ty_sequence_open(&files, v->volume_file, v->volume_rate, v->volume_start, v->place));
        TY_TRY(ty_volume_cache_create(&v->volumes, &files, v->volume_grid, v->width));
    }
    return ty_volume_cache_load(v->volumes, t0, t1);
}

static void eval_keys(const ty_varying* v, double t, double value[3])
{
    assert(v->n_keys > 0);
    int k = 0;
    while (k < v->n_keys && v->keys[k].time <= t) ++k;
    const ty_value_key* a = &v->keys[k > 0 ? k - 1 : 0];
    const ty_value_key* b = &v->keys[k < v->n_keys ? k : v->n_keys - 1];
    double span = b->time - a->time;
    double w = span > 0.0 ? ty_ease(v->linear, (t - a->time) / span) : 0.0;
    for (int i = 0; i < v->width; ++i) value[i] = a->value[i] + w * (b->value[i] - a->value[i]);
}

static void fill(const double* value, int n, int width, double* out)
{
    for (int i = 0; i < n; ++i)
        for (int c = 0; c < width; ++c) out[i * width + c] = value[c];
}

static void eval_expressions(const ty_varying* v, double t, int n, const double (*x)[3],
                             double* out)
{
    fill(v->constant, n, v->width, out);
    for (int i = 0; i < v->width; ++i)
        if (v->expr[i]) ty_expr_eval_strided(v->expr[i], n, x, t, out + i, v->width);
}

static ty_status check_finite(const ty_varying* v, double t, int n, const double (*x)[3],
                              const double* out)
{
    double sum = 0.0;    // of values times zero: zero, or NaN when one of them is not finite
    for (int64_t i = 0; i < (int64_t)n * v->width; ++i) sum += 0.0 * out[i];
    if (sum == 0.0) return ty_ok();
    int64_t bad = 0;
    while (isfinite(out[bad])) ++bad;
    const double* p = x[bad / v->width];
    ty_expr* e = v->kind == TY_VARY_EXPRESSION ? v->expr[bad % v->width] : NULL;
    return ty_fail_at(TY_BAD_INPUT, v->place.file, v->place.line, v->place.column,
                      "%s%s%s gives %g at (%g, %g, %g), t = %g s; it must be a number wherever the "
                      "liquid may get to",
                      e ? "'" : "the value", e ? ty_expr_text(e) : "", e ? "'" : "", out[bad], p[0],
                      p[1], p[2], t);
}

ty_status ty_varying_eval(const ty_varying* v, double t, int n, const double (*x)[3], double* out)
{
    double value[3];
    switch (v->kind) {
    case TY_VARY_CONSTANT: fill(v->constant, n, v->width, out); return ty_ok();
    case TY_VARY_KEYS:
        eval_keys(v, t, value);
        fill(value, n, v->width, out);
        return ty_ok();
    case TY_VARY_EXPRESSION: eval_expressions(v, t, n, x, out); break;
    case TY_VARY_VOLUME:
        assert(v->volumes);
        ty_volume_cache_eval(v->volumes, t, n, x, out);
        break;
    }
    return check_finite(v, t, n, x, out);
}
