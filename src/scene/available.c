// SPDX-License-Identifier: Apache-2.0
// What works in this version, asked from the tables of trackers and solvers.
#include <stdio.h>
#include <string.h>

#include "scene/keys.h"

// Best first. A liquid's solver, and the tracker that goes with any of them.
static const char* const liquid_solvers[] = {"tet", "grid", "prescribed"};
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
        if (table == TY_SOLVER_TABLE ? ty_solver_find(name) != NULL : ty_tracker_find(name) != NULL) return true;
        p += length;
    }
    return false;
}

const char* ty_choice_not_yet(const ty_key* key, const ty_choice* choice)
{
    if (choice->not_yet) return choice->not_yet;
    if (key->table == TY_SOLVER_TABLE && !ty_solver_find(choice->name)) return "this solver is not built yet";
    if (key->table == TY_TRACKER_TABLE && !ty_tracker_find(choice->name)) return "this tracker is not built yet";
    return NULL;
}

const char* ty_key_not_yet(const ty_key* key)
{
    if (key->not_yet) return key->not_yet;
    if (key->only_solver && !any_kind(key->only_solver, TY_SOLVER_TABLE)) return "its solver is not built yet";
    if (key->only_tracker && !any_kind(key->only_tracker, TY_TRACKER_TABLE)) return "its tracker is not built yet";
    if (!key->at && key->type != TY_KEY_INLINE) return "nothing uses it yet";
    return NULL;
}
