// SPDX-License-Identifier: Apache-2.0
#include "sim/output.h"

#include <stdio.h>

#include "core/config.h"
#include "format/file.h"
#include "format/mesh_io.h"

const char* ty_output_path(const char* dir, const char* kind, int number, const char* ext, char* out, int size)
{
    snprintf(out, (size_t)size, "%s/%s/%s.%04d.%s", dir, kind, kind, number, ext);
    return out;
}

ty_status ty_output_folders(const ty_sim_def* def, const char* dir)
{
    const struct {
        const char* name;
        bool wanted;
    } folders[] = {{"checkpoint", true},
                   {"surface", def->write_surface && !def->smoke},
                   {"volume", def->write_volume},
                   {"tets", def->write_tets},
                   {"particles", def->write_particles}};
    char path[4096];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        if (!folders[i].wanted) continue;
        snprintf(path, sizeof path, "%s/%s", dir, folders[i].name);
        TY_TRY(ty_make_folders(path));
    }
    return ty_ok();
}

static ty_status write_surface(ty_sim* sim, const char* dir, int number)
{
    char path[4096], program[64], frame[64], time[64];
    snprintf(program, sizeof program, "tethys %s", TY_VERSION);
    snprintf(frame, sizeof frame, "frame %d", number);
    snprintf(time, sizeof time, "time %.10g", sim->time);
    const char* comments[] = {program, frame, time};
    TY_TRY(ty_sim_surface_velocities(sim));
    return ty_ply_write(&sim->surface, ty_output_path(dir, "surface", number, "ply", path, sizeof path), 3, comments);
}

ty_status ty_output_frame(ty_sim* sim, const char* dir, int number)
{
    const ty_sim_def* def = sim->def;
    if (def->write_surface && sim->tracker_kind) TY_TRY(write_surface(sim, dir, number));
    return ty_ok();
}
