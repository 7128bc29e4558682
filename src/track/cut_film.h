// SPDX-License-Identifier: Apache-2.0
// Films on obstacles that are too thin for the lattice of a cut to see. The liquid runs on into
// obstacles, so the nodes just below a film stand for it:
//
//        o       o       o       o      air
//      ~~~~~~~~~~~~~~~~~~~~~~~~~~       the film, with no node in it
//      --------------------------       the obstacle's surface
//        x       x       x       o      x: nodes that count as liquid
//        o       o       o       o
//
// An edge that leads from such a node to air is cut where the liquid ends; all others on the obstacle's
// surface, straight above the edge. So films are as thin as they like, and end where they end. Without
// that a film on a plane lost all of its volume between two nodes, and what a ledger gave back for it
// was too much. Not on walls thinner than 1.5 cells, and on those thinner than 3.4 only where the other side is dry or
// no edge leads there.
#ifndef TY_TRACK_CUT_FILM_H
#define TY_TRACK_CUT_FILM_H

#include "track/cut_part.h"

// Cells: deeper in the liquid than that no place lies below a film.
static const double TY_CUT_FILM_DEEP = 2.6;
// Which of n places lie below a film. solid: how far they are from obstacles, negative inside; all of
// them are in the liquid or its continuation. n <= TY_SAMPLE_BATCH.
void ty_cut_below_film(const ty_cut_part* p, int n, const double (*x)[3], const double* solid,
                       bool* below);
// Where the surface cuts the way between a place below a film and one that is not liquid.
void ty_cut_film(const ty_cut_part* p, const double below[3], const double other[3], double x[3]);

#endif
