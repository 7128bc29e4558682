// SPDX-License-Identifier: Apache-2.0
// Files that come one per frame: body.####.obj holds frame 12 in body.0012.obj. A name without # is
// one file for all times. Before the first frame and after the last one they are held.
#ifndef TY_WORLD_SEQUENCE_H
#define TY_WORLD_SEQUENCE_H

#include <stdbool.h>

#include "world/varying.h"

// Value; borrows the pattern.
typedef struct ty_sequence {
    const char* pattern;
    double rate;        // frames a second
    int first, last;    // numbers; first is at t = 0
    ty_place place;
} ty_sequence;

// Two frames and the weight of the later one.
typedef struct ty_between {
    int frame[2];    // the same when nothing is between
    double weight;
} ty_between;

enum { TY_PATH_SIZE = 1024 };

// Looks which files are there, from number `first` on until one is missing. TY_IO when the first
// is.
ty_status ty_sequence_open(ty_sequence* s, const char* pattern, double rate, int first,
                           ty_place place);
bool ty_sequence_changes(const ty_sequence* s);
// The frames around t. Where one frame ends and the next begins the pair is the one that leads to
// t; with `starting` the one that leaves it.
ty_between ty_sequence_at(const ty_sequence* s, double t, bool starting);
void ty_sequence_path(const ty_sequence* s, int frame, char path[TY_PATH_SIZE]);
// The scene's place in front of a reader's own message.
ty_status ty_sequence_fail(const ty_sequence* s, const ty_status* reader);

#endif
