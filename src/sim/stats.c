// SPDX-License-Identifier: Apache-2.0
#include "sim/stats.h"

#include <stdio.h>

typedef struct column {
    const char* name;
    size_t offset;
    const char* format;
} column;

#define COUNT(field)                                                                               \
    {                                                                                              \
#field, offsetof(ty_frame_stats, field), "%.0f"                                            \
    }
#define NUMBER(field)                                                                              \
    {                                                                                              \
#field, offsetof(ty_frame_stats, field), "%.10g"                                           \
    }
#define CLOCK(field)                                                                               \
    {                                                                                              \
#field, offsetof(ty_frame_stats, field), "%.4f"                                            \
    }

static const column columns[] = {
    NUMBER(time),
    COUNT(substeps),
    NUMBER(volume),
    NUMBER(expected_volume),
    NUMBER(correction),
    NUMBER(outflow),
    NUMBER(area),
    NUMBER(kinetic_energy),
    NUMBER(potential_energy),
    NUMBER(max_speed),
    NUMBER(max_divergence),
    COUNT(triangles),
    COUNT(cells),
    COUNT(unknowns),
    COUNT(solver_iterations),
    CLOCK(seconds),
    CLOCK(seconds_surface),
    CLOCK(seconds_mesh),
    CLOCK(seconds_advect),
    CLOCK(seconds_project),
    CLOCK(seconds_output),
    CLOCK(peak_mib),
    NUMBER(surface_divergence),
    COUNT(outside_vertices),
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

int ty_stats_header(char* out, int size)
{
    int n = snprintf(out, (size_t)size, "frame");
    for (int i = 0; i < N_COLUMNS; ++i)
        n += snprintf(out + n, (size_t)(size - n), ",%s", columns[i].name);
    return n + snprintf(out + n, (size_t)(size - n), "\n");
}

int ty_stats_row(char* out, int size, int frame, const ty_frame_stats* stats)
{
    int n = snprintf(out, (size_t)size, "%d", frame);
    for (int i = 0; i < N_COLUMNS; ++i) {
        double value = *(const double*)((const char*)stats + columns[i].offset);
        n += snprintf(out + n, (size_t)(size - n), ",");
        n += snprintf(out + n, (size_t)(size - n), columns[i].format, value);
    }
    return n + snprintf(out + n, (size_t)(size - n), "\n");
}
