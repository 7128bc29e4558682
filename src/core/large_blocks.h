// SPDX-License-Identifier: Apache-2.0
// Blocks of huge pages and more. A step frees and takes hundreds of them, each a little larger than a
// step before: the C library's heap tears into holes (a dam break of 0.6 million tetrahedra: a
// quarter of all memory), and straight from the system every page has to be cleared again (6 % of a step).
//
// So the pages of freed blocks are kept and moved into the next ones, whatever their sizes, as long as all
// together are no more than was in use at once before: the largest size of the process is that of its largest
// need. Only page tables change; nothing is copied or cleared.
#ifndef TY_CORE_LARGE_BLOCKS_H
#define TY_CORE_LARGE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

enum { TY_LARGE_BLOCK = 1 << 21 };    // bytes: a huge page

// At least `bytes`, aligned to a huge page; NULL when there is none. Any thread.
void* ty_large_take(size_t bytes);
// False when p is no such block.
bool ty_large_give(void* p);

#endif
