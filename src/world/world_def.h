// SPDX-License-Identifier: Apache-2.0
// What a scene says about the world, as plain structs: made by scene/ from YAML or by a program by
// hand, read by world/. SI units. A def owns its arrays and strings; ty_world_def_free.
#ifndef TY_WORLD_WORLD_DEF_H
#define TY_WORLD_WORLD_DEF_H

#include <stdbool.h>

#include "world/varying.h"

typedef enum ty_shape_kind {
    TY_SHAPE_BOX,
    TY_SHAPE_SPHERE,
    TY_SHAPE_CYLINDER,
    TY_SHAPE_CAPSULE,
    TY_SHAPE_PLANE,
    TY_SHAPE_TORUS,
    TY_SHAPE_MESH,
    TY_SHAPE_VOLUME,
    TY_SHAPE_FORMULA,
    TY_SHAPE_UNION,
    TY_SHAPE_INTERSECTION,
    TY_SHAPE_DIFFERENCE,
    TY_N_SHAPE_KINDS
} ty_shape_kind;

// An absolute pose: first turned about `about`, then moved; sizes times `scale` about `about`.
typedef struct ty_pose_key {
    double time;
    double move[3];
    double axis[3], degrees, about[3];
    double scale;    // 1: none
} ty_pose_key;

typedef struct ty_shape_def {
    ty_shape_kind kind;
    double min[3], max[3];         // box
    double center[3], radius;      // sphere; torus: ring radius
    double from[3], to[3];         // cylinder, capsule (with radius)
    double point[3], normal[3];    // plane: liquid or solid on the side away from the normal
    double axis[3], tube;          // torus: axis of the ring, radius of the tube
    char* file;                    // mesh, volume; may hold #### for one file per frame
    char* grid;                    // volume: grid name
    double file_rate;              // frames a second of a file sequence
    int file_start;                // its frame number at t = 0
    double scale, offset[3];       // mesh: vertices times scale, then plus offset
    bool invert;                   // the complement
    ty_varying formula;            // formula: negative inside
    int n_children;
    struct ty_shape_def* children;    // union, intersection; difference: first minus the rest
    int n_keys;
    ty_pose_key* keys;
    bool linear;    // straight lines between key frames instead of ease in and out
    ty_place place;
} ty_shape_def;

typedef enum ty_side {
    TY_LEFT,
    TY_RIGHT,
    TY_BOTTOM,
    TY_TOP,
    TY_BACK,
    TY_FRONT,
    TY_N_SIDES
} ty_side;

typedef struct ty_wall_def {
    bool closed;
    ty_varying velocity;    // in the wall's plane
    double slip;            // 1 free slip, 0 no slip
} ty_wall_def;

typedef struct ty_liquid_def {
    ty_shape_def shape;
    ty_varying velocity;
} ty_liquid_def;

typedef struct ty_obstacle_def {
    ty_shape_def shape;
    double slip;
    bool has_velocity;
    ty_varying
        velocity;    // of the surface beside its motion (a conveyor), or of a level set sequence
} ty_obstacle_def;

typedef struct ty_source_def {
    ty_shape_def shape;
    ty_varying velocity;
    double active[2];    // seconds, from and to
    bool has_rate;
    ty_varying rate;    // m3/s instead of the velocity's
} ty_source_def;

typedef struct ty_drain_def {
    ty_shape_def shape;
    double active[2];
} ty_drain_def;

typedef enum ty_force_kind {
    TY_FORCE_GRAVITY,
    TY_FORCE_POINT,
    TY_FORCE_VORTEX,
    TY_FORCE_WIND,
    TY_FORCE_TURBULENCE,
    TY_FORCE_SPLINE,
    TY_FORCE_GUIDE,
    TY_FORCE_FIELD,
    TY_FORCE_CUSTOM,
    TY_N_FORCE_KINDS
} ty_force_kind;

// What each kind does with these numbers is in world/force.h.
typedef struct ty_force_def {
    ty_force_kind kind;
    char* custom;         // custom: the name it was registered with
    ty_varying vector;    // wind velocity, field, direction along a guide; gravity
    ty_varying strength;
    double center[3], axis[3];      // point, vortex
    double radius, scale, speed;    // reach (0: no end); size and change rate of turbulence
    int n_points;
    double (*points)[3];    // spline
    char* file;             // guide mesh
    bool bounded;
    ty_shape_def region;    // acts only inside, when bounded
    double active[2];
    ty_place place;
} ty_force_def;

typedef struct ty_steer_def {
    ty_shape_def shape;
    ty_varying velocity, blend;    // blend: share per frame at 24 frames a second
} ty_steer_def;

typedef struct ty_camera_def {
    char* name;
    ty_varying eye, target;    // time only
    double up[3], fov;         // fov: vertical, degrees
} ty_camera_def;

typedef struct ty_world_def {
    bool has_domain;
    double min[3], max[3];
    ty_wall_def wall[TY_N_SIDES];
    int up;                // 1: y, 2: z
    ty_varying gravity;    // time only
    int n_liquids, n_obstacles, n_sources, n_drains, n_forces, n_steers, n_cameras;
    ty_liquid_def* liquids;
    ty_obstacle_def* obstacles;
    ty_source_def* sources;
    ty_drain_def* drains;
    ty_force_def* forces;    // gravity is not among them
    ty_steer_def* steers;
    ty_camera_def* cameras;
} ty_world_def;

// Unit sizes at the origin, slip 1, always active, no motion.
ty_shape_def ty_shape_default(ty_shape_kind kind);
ty_pose_key ty_pose_key_default(void);
ty_liquid_def ty_liquid_default(ty_shape_kind kind);
ty_obstacle_def ty_obstacle_default(ty_shape_kind kind);
ty_source_def ty_source_default(ty_shape_kind kind);
ty_drain_def ty_drain_default(ty_shape_kind kind);
ty_steer_def ty_steer_default(ty_shape_kind kind);    // blend 1
ty_force_def ty_force_default(ty_force_kind kind);    // strength 1
// No domain (all its sides closed once it is there), no liquid, gravity (0, -9.81, 0).
ty_world_def ty_world_default(void);
void ty_shape_def_free(ty_shape_def* def);
void ty_world_def_free(ty_world_def* def);

#endif
