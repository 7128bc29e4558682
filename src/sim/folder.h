// SPDX-License-Identifier: Apache-2.0
// The result folder as a whole: who may write into it, what is in it, run.json.
#ifndef TY_SIM_FOLDER_H
#define TY_SIM_FOLDER_H

#include "sim/sim_def.h"

typedef struct ty_folder {
    char dir[3000];
    int lock;    // file descriptor; the lock ends with the process, however it ends
    char started[32];
} ty_folder;

// Makes the folder and takes it for this process. TY_EXISTS when another run is writing there.
ty_status ty_folder_open(ty_folder* folder, const char* dir);
void ty_folder_close(ty_folder* folder);

// Whether a run has written here before.
bool ty_folder_has_result(const ty_folder* folder);
// Removes what a run writes, by its names; anything else in the folder stays.
ty_status ty_folder_clear(const ty_folder* folder);
// Removes frame files (surface, volume, ...) with numbers above `number`.
void ty_folder_drop_frames_after(const ty_folder* folder, int number);

// run.json; state: running, done, failed, stopped. `message` may be NULL.
ty_status ty_folder_write_run(const ty_folder* folder, const ty_sim_def* scene, const char* command,
                              const char* state, const char* message, int last_frame);
ty_status ty_folder_write_scene(const ty_folder* folder, const ty_sim_def* scene);

#endif
