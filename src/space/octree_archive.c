// SPDX-License-Identifier: Apache-2.0
#include "space/octree_archive.h"

static ty_status archive_set(ty_lattice_set* set, ty_archive* ar, const char* name)
{
    TY_ARRAY(uint64_t) words = {0};
    ty_status status = ty_ok();
    for (int64_t b = 0; !ar->loading && b < set->brick.n && status.code == TY_OK; ++b) {
        bool good = ty_array_push(&words, set->brick.at[b].key);
        for (int w = 0; w < 8; ++w) good = good && ty_array_push(&words, set->brick.at[b].bits[w]);
        if (!good) status = ty_no_memory("an archive");
    }
    if (status.code == TY_OK) status = ty_archive_growing(ar, name, &words);
    if (status.code == TY_OK && ar->loading) {
        ty_lattice_set_clear(set);
        for (int64_t i = 0; i + 9 <= words.n && status.code == TY_OK; i += 9)
            if (!ty_lattice_set_insert_brick(set, words.at[i], words.at + i + 1))
                status = ty_no_memory("an octree");
        if (status.code == TY_OK) status = ty_lattice_set_finish(set);
    }
    ty_array_free(&words);
    return status;
}

ty_status ty_octree_archive(ty_octree* t, ty_archive* ar)
{
    TY_TRY(ty_archive_f64(ar, "octree.origin", t->origin, 3));
    TY_TRY(ty_archive_f64(ar, "octree.cell", &t->cell, 1));
    TY_TRY(ty_archive_i32(ar, "octree.levels", &t->n_levels, 1));
    if (t->n_levels < 0 || t->n_levels > TY_OCTREE_MAX_LEVELS)
        return ty_fail(TY_DAMAGED, "an octree of %d levels", t->n_levels);
    TY_TRY(archive_set(&t->corners, ar, "octree.corners"));
    t->n_octants = 0;
    for (int l = 0; l < t->n_levels; ++l) {
        TY_TRY(archive_set(&t->level[l].octants, ar, "octree.octants"));
        TY_TRY(archive_set(&t->level[l].split, ar, "octree.split"));
        t->level[l].first = t->n_octants;
        t->n_octants += t->level[l].octants.n;
    }
    return ty_ok();
}
