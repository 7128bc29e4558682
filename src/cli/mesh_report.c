// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cli/mesh.h"
#include "core/memory.h"

static void print_json(const ty_tet_mesh* m, const ty_tet_quality* q, const mesh_times* t)
{
    printf("{\"tets\": %d, \"vertices\": %d, \"boundary_faces\": %d, \"min_dihedral\": %.4f, "
           "\"max_dihedral\": %.4f, ",
           m->n_tets, m->n_verts, m->n_faces - m->n_inner_faces, q->min_dihedral, q->max_dihedral);
    printf("\"volume\": %.12g, \"distance_seconds\": %.6f, \"stuffing_seconds\": %.6f, "
           "\"seconds\": %.6f, ",
           q->volume, t->distance, t->stuffing, t->seconds);
    printf("\"write_seconds\": %.6f, \"peak_mib\": %.1f, \"bytes_per_tet\": %.1f, "
           "\"lattice_share\": %.4f, ",
           t->write, ty_memory_peak_mib(), (double)ty_tet_mesh_bytes(m) / m->n_tets,
           1.0 - (double)q->by_shape[4] / m->n_tets);
    printf("\"histogram\": [");
    for (int i = 0; i < 36; ++i) printf("%s%lld", i ? ", " : "", (long long)q->histogram[i]);
    printf("]}\n");
}

static void print_histogram(const ty_tet_quality* q)
{
    int64_t most = 1;
    for (int i = 0; i < 36; ++i) most = q->histogram[i] > most ? q->histogram[i] : most;
    printf("dihedral angles, degrees\n");
    for (int i = 0; i < 36; ++i) {
        if (!q->histogram[i]) continue;
        int width = (int)((50 * q->histogram[i] + most - 1) / most);
        printf("%4d - %-4d %10lld %.*s\n", 5 * i, 5 * i + 5, (long long)q->histogram[i], width,
               "##################################################");
    }
}

static void print_text(const ty_tet_mesh* m, const ty_stuff* s, const ty_tet_quality* q,
                       const mesh_times* t)
{
    static const char* const shape[] = {"lattice", "half", "quarter", "pyramid", "irregular"};
    printf("tets            %d\nvertices        %d, %d of them on the surface\n", m->n_tets,
           m->n_verts, m->n_verts - m->n_inner);
    printf("dihedral angles %.2f to %.2f degrees (bound %.1f to %.1f)\nvolume          %.9g m3\n",
           q->min_dihedral, q->max_dihedral, TY_MIN_DIHEDRAL, TY_MAX_DIHEDRAL, q->volume);
    printf("shapes         ");
    for (int i = 0; i < 5; ++i) printf(" %s %lld", shape[i], (long long)q->by_shape[i]);
    printf("\nseconds         %.3f: distances %.3f, stuffing %.3f (octree %.3f, tets %.3f, faces "
           "%.3f); writing %.3f\n",
           t->seconds, t->distance, t->stuffing, s->seconds_octree, s->seconds_stuff,
           s->seconds_faces, t->write);
    printf("memory          %.1f bytes per tet, peak %.1f MiB\n",
           (double)ty_tet_mesh_bytes(m) / m->n_tets, ty_memory_peak_mib());
    print_histogram(q);
}

void mesh_report(const mesh_options* o, const ty_tet_mesh* m, const ty_stuff* s,
                 const mesh_times* t)
{
    if (!o->quality && !o->json) return;
    ty_tet_quality q = ty_tet_mesh_quality(m);
    if (o->json) print_json(m, &q, t);
    else print_text(m, s, &q, t);
}
