// SPDX-License-Identifier: Apache-2.0
// Checkpoints: DIR/checkpoint/frame.0001.tyc is the state when frame 1 was complete; stopped.tyc
// the state when a run was interrupted between frames. Everything that influences the next bit is
// in them, with the lengths of the text files and the hashes of the scene and its input files.
#ifndef TY_SIM_CHECKPOINT_H
#define TY_SIM_CHECKPOINT_H

#include "sim/sim.h"

enum { TY_CHECKPOINT_STOPPED = -1 };    // in place of a frame number: stopped.tyc

typedef struct ty_checkpoint_extra {
    int64_t stats_length,
        probes_length;    // bytes of stats.csv and probes.csv that belong to this state
} ty_checkpoint_extra;

// DIR/checkpoint/frame.0012.tyc into out. Returns out.
const char* ty_checkpoint_path(const char* dir, int number, char* out, int size);

ty_status ty_checkpoint_save(const char* dir, int number, ty_sim* sim, ty_checkpoint_extra extra);
// Into a sim fresh from create. TY_DAMAGED: the file is not what was written. TY_BAD_INPUT: it
// belongs to another scene or its input files changed (not with `force`), or to another version of
// the program.
ty_status ty_checkpoint_load(const char* dir, int number, bool force, ty_sim* sim,
                             ty_checkpoint_extra* extra);

// What a checkpoint says about itself, without a sim.
typedef struct ty_checkpoint_head {
    uint64_t scene_hash;
    double time;
    int frame;
    int64_t step;
    char name[64], tracker[32], solver[32], version[16];
} ty_checkpoint_head;
ty_status ty_checkpoint_read_head(const char* path, ty_checkpoint_head* head);

// Numbers of the frame checkpoints in a folder, rising; from ty_alloc. *n is 0 when there is none.
ty_status ty_checkpoint_list(const char* dir, int** numbers, int* n);
// Removes the oldest frame checkpoints until `keep` are left (0 keeps all), and stopped.tyc.
void ty_checkpoint_prune(const char* dir, int keep);

#endif
