// SPDX-License-Identifier: Apache-2.0
// One row of stats.csv, gathered over the steps of a frame.
#ifndef TY_SIM_STATS_H
#define TY_SIM_STATS_H

#include "core/archive.h"

// Value. The order of the columns is DESIGN section 9's; other people's scripts rely on it.
typedef struct ty_frame_stats {
    double time;
    double substeps, volume, expected_volume, correction, outflow, area;
    double kinetic_energy, potential_energy, max_speed, max_divergence;
    double triangles, cells, unknowns, solver_iterations;
    double seconds, seconds_surface, seconds_mesh, seconds_advect, seconds_project, seconds_output;
    double peak_mib;
    double surface_divergence, outside_vertices;    // ours, behind those of section 9
} ty_frame_stats;

// The header line and a row, with newline. Returns the length; `size` of 1024 is always enough.
int ty_stats_header(char* out, int size);
int ty_stats_row(char* out, int size, int frame, const ty_frame_stats* stats);

#endif
