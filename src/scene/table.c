// SPDX-License-Identifier: Apache-2.0
// Walking the table, and what of it works in this version.
#include <stdio.h>
#include <string.h>

#include "scene/keys.h"

// Best first. A liquid's solver: `grid` is the fastest and forgives most, `tet` is asked for by
// name. And the tracker that goes with any of them.
static const char* const liquid_solvers[] = {"grid", "tet", "prescribed"};
static const char* const smoke_solvers[] = {"octree", "grid"};
static const char* const tet_trackers[] = {"contour", "particle", "levelset", "mesh"};
static const char* const grid_trackers[] = {"levelset", "particle", "contour", "mesh"};

const char* ty_best_solver(bool smoke)
{
    const char* const* names = smoke ? smoke_solvers : liquid_solvers;
    int n = smoke ? 2 : 3;
    for (int i = 0; i < n; ++i)
        if (ty_solver_find(names[i])) return names[i];
    return names[n - 1];
}

const char* ty_best_tracker(const char* solver)
{
    const char* const* names = strcmp(solver, "tet") == 0 ? tet_trackers : grid_trackers;
    for (int i = 0; i < 4; ++i)
        if (ty_tracker_find(names[i])) return names[i];
    return names[0];
}

bool ty_words_hold(const char* words, const char* word)
{
    if (!words) return true;
    size_t n = strlen(word);
    for (const char* p = words; *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        if (length == n && memcmp(p, word, n) == 0) return true;
        p += length;
    }
    return false;
}

// Whether any of the space-separated kinds is registered.
static bool any_kind(const char* words, ty_kind_table table)
{
    for (const char* p = words; *p; p += strspn(p, " ")) {
        char name[32];
        size_t length = strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        if (table == TY_SOLVER_TABLE ? ty_solver_find(name) != NULL : ty_tracker_find(name) != NULL)
            return true;
        p += length;
    }
    return false;
}

const char* ty_choice_not_yet(const ty_key* key, const ty_choice* choice)
{
    if (choice->not_yet) return choice->not_yet;
    if (key->table == TY_SOLVER_TABLE && !ty_solver_find(choice->name))
        return "this solver is not built yet";
    if (key->table == TY_TRACKER_TABLE && !ty_tracker_find(choice->name))
        return "this tracker is not built yet";
    return NULL;
}

const char* ty_key_not_yet(const ty_key* key)
{
    if (key->not_yet) return key->not_yet;
    if (key->only_solver && !any_kind(key->only_solver, TY_SOLVER_TABLE))
        return "its solver is not built yet";
    if (key->only_tracker && !any_kind(key->only_tracker, TY_TRACKER_TABLE))
        return "its tracker is not built yet";
    if (!key->at && key->type != TY_KEY_INLINE) return "nothing uses it yet";
    return NULL;
}

static bool visit(const ty_group* group, size_t offset, bool (*each)(void*, const ty_key*, size_t),
                  void* ctx)
{
    for (const ty_key* key = group->keys; !ty_key_is_end(key); ++key) {
        bool go_on = key->type == TY_KEY_INLINE ? visit(key->group, offset + key->at - 1, each, ctx)
                                                : each(ctx, key, offset);
        if (!go_on) return false;
    }
    return true;
}

void ty_visit_keys(const ty_group* group, size_t offset,
                   bool (*each)(void* ctx, const ty_key*, size_t offset), void* ctx)
{
    visit(group, offset, each, ctx);
}

static int collect(const ty_group** out, int n, const ty_group* group)
{
    for (int i = 0; i < n; ++i)
        if (out[i] == group) return n;
    if (n == TY_MAX_GROUPS) return n;
    out[n++] = group;
    for (const ty_key* key = group->keys; !ty_key_is_end(key); ++key)
        if (key->group) n = collect(out, n, key->group);
    return n;
}

int ty_all_groups(const ty_group* out[TY_MAX_GROUPS])
{
    int n = collect(out, 0, &ty_scene_group);
    // Met only inside varying values.
    const ty_group* const more[] = {&ty_value_key_group, &ty_vector_key_group,
                                    &ty_varying_keys_group, &ty_varying_file_group};
    for (size_t i = 0; i < sizeof more / sizeof *more; ++i) n = collect(out, n, more[i]);
    return n;
}
