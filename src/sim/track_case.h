// SPDX-License-Identifier: Apache-2.0
// A tracker in a prescribed flow whose answer is known: volume, area, shape, time.
#ifndef TY_SIM_TRACK_CASE_H
#define TY_SIM_TRACK_CASE_H

#include "track/track.h"

// Value; strings and the field are borrowed. NAN: the case's own.
typedef struct ty_track_case_def {
    const char* name;      // sim/track_flow.h
    const char* out;       // folder for surfaces and track.csv; NULL: none
    ty_track_def track;    // kind and options; its cell follows from the resolution
    int resolution;        // cells along the domain
    int surfaces;          // written during the run, beside the start
    double center[3], radius, period, axis[3], cfl;
    bool correct;         // the ledger gives back what is lost
    bool returns;         // field: the liquid ends as it began
    ty_varying* field;    // velocity of case `field`
    double size;          // field: side of the cubic domain
} ty_track_case_def;
ty_track_case_def ty_track_case_default(void);

// Value. Errors are relative to the exact volume at the start; distances in metres; NAN where
// nothing exact is known, INFINITY where there is no surface left.
typedef struct ty_track_case_result {
    const char* tracker;
    int resolution, steps, triangles_max;
    double volume_error, volume_error_uncorrected, area_mid;
    double symmetric_difference;           // volume in one of the two, over the exact volume
    double mean_distance, max_distance;    // max: both ways
    double seconds;                        // of the tracker alone
    double volume_start, volume_end, area_start;
} ty_track_case_result;

// Runs to the end of the period. Fails with TY_BAD_INPUT for names and numbers that make no sense.
ty_status ty_track_case_run(const ty_track_case_def* def, ty_track_case_result* result);

// Compares a closed mesh with { exact < 0 }; `before` is that shape's surface. volume: of the exact
// shape, m3.
ty_status ty_track_measure(const ty_tri_mesh* mesh, const ty_sampler* exact,
                           const ty_tri_mesh* before, double cell, double volume,
                           ty_track_case_result* result);

#endif
