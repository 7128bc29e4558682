// SPDX-License-Identifier: Apache-2.0
// What `tethys bench amg` measures, and its peers.
#ifndef TY_CLI_BENCH_AMG_H
#define TY_CLI_BENCH_AMG_H

#include "linear/model_problems.h"

typedef struct bench_result {
    char method[16];
    double setup_seconds, solve_seconds;
    int iterations, levels;
    double residual, complexity, peak_mib;    // peak_mib: beyond the system itself
} bench_result;

// Seconds of the clock, or of the processor.
double bench_now(bool processor_time);

// Conjugate gradients with BoomerAMG, its best setting for these systems (PMIS, one aggressive
// level, extended+i interpolation with 4 entries a row, threshold 0.25). Once per process: it
// starts MPI.
ty_status bench_hypre(const ty_model* model, double tolerance, int repeat, bool processor_time,
                      bench_result* out);

#endif
