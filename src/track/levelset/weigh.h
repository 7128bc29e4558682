// SPDX-License-Identifier: Apache-2.0
// What weigh.c asks of share.c, brought.c and swept.c: how much of what comes through a face is liquid.
#ifndef TY_TRACK_LEVELSET_WEIGH_H
#define TY_TRACK_LEVELSET_WEIGH_H

#include "track/levelset/levelset.h"

enum { TY_FACE_BATCH = TY_SAMPLE_BATCH / 4 };

typedef struct ty_weigh_job {
    ty_levelset* ls;
    const ty_flow* flow;
    ty_sampler middle;    // the velocity in the middle of the step
    double dt;
    bool on_lattice;       // the flow's cells are those of the level set
    bool sources, open;    // there are any; a side is open
} ty_weigh_job;

// Faces that the surface may have come through, on their way back.
typedef struct ty_face_batch {
    int n, at[TY_FACE_BATCH];    // place in the list of fluxes
    int axis[TY_FACE_BATCH];
    double flux[TY_FACE_BATCH];         // of all that goes through
    double middle[TY_FACE_BATCH][3];    // the faces' middles, which are followed
    double v[TY_FACE_BATCH][3];         // velocities there
    double reach;                       // metres that one of them may go
} ty_face_batch;

// The old liquid at n points, at most TY_SAMPLE_BATCH; it ends at open sides.
void ty_levelset_old_liquid(const ty_weigh_job* job, int n, const double (*x)[3], double* phi);
// Whether a face's way of a length, at whose middle phi is, is all liquid or all air.
bool ty_levelset_far_from_way(const ty_levelset* ls, double phi, double length);
// Adds to share[] what is liquid, of 1, on the pieces of ways from the faces' middles to `to`.
void ty_levelset_add_shares(const ty_weigh_job* job, const ty_face_batch* b, const double (*to)[3],
                            double* share);

// brought.c: after a weigh by fluxes, while a source pours. What comes through faces beyond the listed
// cells is owed, and what a source's rate has more than was found is dealt out beside it.
ty_status ty_levelset_meet_sources(const ty_weigh_job* job);
// What sources let out in the step, cells^3. False where not all that the liquid gains is theirs.
bool ty_levelset_find_delivered(const ty_weigh_job* job, double* delivered);

// swept.c: weighs by the carried surface. Cells and boxes are listed; `next` is the old liquid.
ty_status ty_levelset_weigh_swept(const ty_weigh_job* job);

#endif
