// SPDX-License-Identifier: Apache-2.0
// Which faces and vertices have an unknown pressure. In `face` every face has its own, except faces
// of cut tets: those take the mean of their vertices, which then have unknowns. (Weighting faces of
// cut tets by open shares instead destroys a stream along a wall: 33 % after one projection.) In
// `nodal` all faces do.
//
// A face between a whole and a dropped tet lies on the wall: its own pressure closes it. (As a mean
// of vertices it would leave pressures undetermined that have no mean on any such face, and
// multigrid took 110 iterations instead of 12.)
#include <string.h>

#include "core/parallel.h"
#include "solve/tet/projector.h"

enum { BLOCK = 4096 };

// All vertices are air, and not all of them on a wall. [Chentanez2007] section 3.3.1: not all of
// them on a wall.
static bool is_air_face(const ty_tet_state* s, int face, bool paper)
{
    const ty_tet_mesh* m = &s->mesh;
    int t = m->face_tet[face][0];
    bool air = true, open = false, free = false;
    for (int i = 0; i < 4; ++i) {
        int v = m->tet[t][i];
        if (m->tet_face[t][i] == face) continue;
        air &= (s->vert_kind.at[v] & TY_VERT_AIR) != 0;
        open |= s->solid.at[v] > 0.0;
        free |= (s->vert_kind.at[v] & TY_VERT_SOLID) == 0;
    }
    return paper ? free : air && open;
}

static bool is_moved(const ty_tet_state* s, int tet)
{
    return tet >= 0 && s->open.at[tet] > 0.0 && !ty_tet_is_held(s, tet);
}

static bool is_cut(const ty_tet_state* s, int tet)
{
    return s->open.at[tet] > 0.0 && s->open.at[tet] < 1.0;
}

static void face_block(void* ctx, ty_range r)
{
    const ty_tet_job* job = ctx;
    const ty_tet_state* s = job->s;
    for (int64_t f = r.begin; f < r.end; ++f) {
        const int* side = s->mesh.face_tet[f];
        bool cut = is_cut(s, side[0]) || (side[1] >= 0 && is_cut(s, side[1]));
        bool live = is_moved(s, side[0]) || is_moved(s, side[1]);
        int kind = 0;
        if (job->p->scheme == TY_TET_NODAL || (cut && job->p->scheme == TY_TET_FACE) || !live)
            kind = TY_FACE_NODAL;
        else if (side[1] < 0 && is_air_face(s, (int)f, job->p->paper_air)) kind = TY_FACE_GIVEN;
        job->p->face_unknown.at[f] = kind;
    }
}

static ty_status number_vertices(const ty_tet_job* job, int first)
{
    ty_tet_projector* p = job->p;
    int next = first, coarse = 0;
    int needed = TY_VERT_LIVE | (p->scheme == TY_TET_NODAL ? 0 : TY_VERT_CUT);
    p->unknown_vert.n = 0;
    for (int v = 0; v < job->s->mesh.n_verts; ++v) {
        int kind = job->s->vert_kind.at[v];
        bool free = (kind & TY_VERT_LIVE) && !(kind & (TY_VERT_AIR | TY_VERT_HELD));
        p->vert_coarse.at[v] = free ? coarse++ : -1;
        p->vert_unknown.at[v] = free && (kind & needed) == needed ? next++ : -1;
        if (p->vert_unknown.at[v] >= 0 && !ty_array_push(&p->unknown_vert, v))
            return ty_no_memory("pressure unknowns");
    }
    p->n_coarse = coarse;
    p->n_unknowns = next;
    return ty_ok();
}

typedef struct stars {
    const ty_tet_job* job;
    int* start;    // two ahead while counting, one ahead while filling
    int share;     // vertices of one piece of work
    bool fill;
} stars;

// Every worker reads all tets and lists those of its own vertices.
static void star_share(void* ctx, ty_range r)
{
    const stars* q = ctx;
    const ty_tet_mesh* m = &q->job->s->mesh;
    const ty_tet_projector* p = q->job->p;
    unsigned begin = (unsigned)(r.begin * q->share), count = (unsigned)q->share;
    for (int t = 0; t < m->n_tets; ++t) {
        if (q->job->s->open.at[t] == 0.0) continue;
        for (int i = 0; i < 4; ++i) {
            int v = m->tet[t][i];
            if ((unsigned)v - begin >= count || p->vert_coarse.at[v] < 0) continue;
            if (q->fill) p->around.at[q->start[v + 1]++] = 4 * t + i;
            else ++q->start[v + 2];
        }
    }
}

static ty_status list_tets(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    int n = job->s->mesh.n_verts, shares = ty_threads(), most = 0;
    if (!ty_array_resize(&p->around_start, n + 2)) return ty_no_memory("pressure unknowns");
    int* start = p->around_start.at;
    memset(start, 0, sizeof(int) * (size_t)(n + 2));
    stars q = {job, start, n / shares + 1, false};
    ty_parallel_for(shares, 1, star_share, &q);
    for (int v = 0; v < n; ++v) {
        if (start[v + 2] > most) most = start[v + 2];
        start[v + 2] += start[v + 1];
    }
    p->row_room = 8 * (most > 2 ? most : 2);
    int64_t room = (int64_t)p->row_room * ty_threads();
    if (!ty_array_resize(&p->around, start[n + 1]) || !ty_array_resize(&p->row_col, room) ||
        !ty_array_resize(&p->row_val, room))
        return ty_no_memory("pressure unknowns");
    q.fill = true;
    ty_parallel_for(shares, 1, star_share, &q);
    return ty_ok();
}

ty_status ty_tet_mark_faces(const ty_tet_job* job)
{
    int n = job->s->mesh.n_faces;
    if (!ty_array_resize(&job->p->face_unknown, n)) return ty_no_memory("pressure unknowns");
    ty_parallel_for(n, BLOCK, face_block, (void*)job);
    return ty_ok();
}

ty_status ty_tet_number(const ty_tet_job* job)
{
    ty_tet_projector* p = job->p;
    const ty_tet_mesh* m = &job->s->mesh;
    TY_TRY(ty_tet_mark_faces(job));
    if (!ty_array_resize(&p->unknown_face, m->n_faces) ||
        !ty_array_resize(&p->vert_unknown, m->n_verts) ||
        !ty_array_resize(&p->vert_coarse, m->n_verts))
        return ty_no_memory("pressure unknowns");
    int n = 0;
    for (int f = 0; f < m->n_faces; ++f) {
        if (p->face_unknown.at[f] < 0) continue;
        p->unknown_face.at[n] = f;
        p->face_unknown.at[f] = n++;
    }
    p->n_face_unknowns = n;
    TY_TRY(number_vertices(job, n));
    return list_tets(job);
}

int ty_tet_local_unknowns(const ty_tet_job* job, int tet, int unknown[8])
{
    const ty_tet_projector* p = job->p;
    const int *face = job->s->mesh.tet_face[tet], *vert = job->s->mesh.tet[tet];
    int n = 0, n_nodal = 0;
    unsigned is_nodal = 0;
    for (int i = 0; i < 4; ++i) {
        int k = p->face_unknown.at[face[i]];
        if (k >= 0) unknown[n++] = k;
        else if (k == TY_FACE_NODAL) is_nodal |= 1u << i, ++n_nodal;
    }
    for (int j = 0; j < 4 && n_nodal; ++j) {
        int k = p->vert_unknown.at[vert[j]];
        if (k >= 0 && is_nodal & ~(1u << j)) unknown[n++] = k;
    }
    return n;
}

void ty_tet_make_local(const ty_tet_job* job, int tet, const ty_tet_geometry* g,
                       ty_tet_local* local)
{
    const ty_tet_projector* p = job->p;
    const ty_tet_mesh* m = &job->s->mesh;
    const int *face = m->tet_face[tet], *vert = m->tet[tet];
    local->n = 0;
    local->known = ty_vec(0, 0, 0);
    local->volume = g->volume;
    ty_vec3 nodal = ty_vec(0, 0, 0);
    int n_nodal = 0;
    unsigned is_nodal = 0;
    for (int i = 0; i < 4; ++i) {
        int k = p->face_unknown.at[face[i]];
        ty_vec3 S = ty_load3(g->S[i]);
        if (k >= 0) {
            local->unknown[local->n] = k;
            local->corner[local->n] = i - 4;
            local->mean[local->n] = 0.25;
            local->S[local->n++] = S;
        } else if (k == TY_FACE_GIVEN) {
            double sum = 0.0;
            for (int j = 0; j < 4; ++j) sum += j == i ? 0.0 : p->given.at[vert[j]];
            local->known += sum / 3.0 * S;
        } else {
            nodal += S;
            ++n_nodal;
            is_nodal |= 1u << i;
        }
    }
    // Vertex j is a third of every nodal face but the one opposite.
    for (int j = 0; j < 4 && n_nodal; ++j) {
        bool opposite = is_nodal >> j & 1;
        int k = p->vert_unknown.at[vert[j]], n_faces = n_nodal - opposite;
        if (n_faces == 0) continue;
        ty_vec3 S = (opposite ? nodal - ty_load3(g->S[j]) : nodal) / 3.0;
        if (k < 0) {
            local->known += p->given.at[vert[j]] * S;
            continue;
        }
        local->unknown[local->n] = k;
        local->corner[local->n] = j;
        local->mean[local->n] = n_faces / 12.0;
        local->S[local->n++] = S;
    }
}
