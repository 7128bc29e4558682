// SPDX-License-Identifier: Apache-2.0
// What one row of the table cannot say: how keys of a group go together.
#ifndef TY_SCENE_CHECKS_H
#define TY_SCENE_CHECKS_H

struct ty_reader;
struct ty_node;

// `self` is the group's struct, filled; `node` its mapping, NULL when the scene does not hold it.
void ty_check_domain(struct ty_reader*, void* self, struct ty_node*);
void ty_check_solver(struct ty_reader*, void* self, struct ty_node*);
void ty_check_surface(struct ty_reader*, void* self, struct ty_node*);
void ty_check_scene(struct ty_reader*, void* self, struct ty_node*);
void ty_check_box(struct ty_reader*, void* self, struct ty_node*);
void ty_check_rod(struct ty_reader*, void* self, struct ty_node*);
void ty_check_plane(struct ty_reader*, void* self, struct ty_node*);
void ty_check_torus(struct ty_reader*, void* self, struct ty_node*);
void ty_check_turn(struct ty_reader*, void* self, struct ty_node*);
void ty_check_shape(struct ty_reader*, void* self, struct ty_node*);
void ty_check_force_axis(struct ty_reader*, void* self, struct ty_node*);
void ty_check_custom_force(struct ty_reader*, void* self, struct ty_node*);
void ty_check_force(struct ty_reader*, void* self, struct ty_node*);
void ty_check_camera(struct ty_reader*, void* self, struct ty_node*);
void ty_check_probe(struct ty_reader*, void* self, struct ty_node*);

// A shape and a force of that kind before their keys are read.
void ty_start_shape(void* self, int kind);
void ty_start_force(void* self, int kind);

#endif
