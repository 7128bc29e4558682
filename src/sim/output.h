// SPDX-License-Identifier: Apache-2.0
// Writes the files of one frame.
#ifndef TY_SIM_OUTPUT_H
#define TY_SIM_OUTPUT_H

#include "sim/sim.h"

// Folders that the scene's outputs need.
ty_status ty_output_folders(const ty_sim_def* def, const char* dir);
// Surface, volume and particles of the sim's present frame, as the scene asks for.
ty_status ty_output_frame(ty_sim* sim, const char* dir, int number);
// DIR/KIND/KIND.0001.EXT into out. Returns out.
const char* ty_output_path(const char* dir, const char* kind, int number, const char* ext,
                           char* out, int size);

#endif
