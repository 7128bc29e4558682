// SPDX-License-Identifier: Apache-2.0
// The table of keys, second half: what stands in the world.
#include <math.h>

#include "scene/checks.h"
#include "scene/keys.h"

#define SHAPE(field) TY_AT(ty_shape_def, field)
#define FORCE(field) TY_AT(ty_force_def, field)
#define SAME         1    // a group stored in the same struct
#define POSITIVE     .min = 0.0, .max = INFINITY, .min_open = true
#define NOT_NEGATIVE .min = 0.0, .max = INFINITY
#define SHARE        .min = 0.0, .max = 1.0

#define POINT(word, where, default_value, what)                                                    \
    {                                                                                              \
        word, TY_KEY_VEC3, .at = where, .unit = "m", .fallback = default_value,                    \
                           .required = !(default_value), .sentence = what                          \
    }
#define RADIUS(where, what)                                                                        \
    {                                                                                              \
        "radius", TY_KEY_NUMBER, .at = where, .unit = "m", POSITIVE, .required = true,             \
                                 .sentence = what                                                  \
    }
#define DIRECTION(word, where, what)                                                               \
    {                                                                                              \
        word, TY_KEY_VEC3, .at = where, .unit = "", .fallback = "@up", .fallback_says = "up",      \
                           .sentence = what                                                        \
    }
#define SEQUENCE(rate_at, start_at)                                                                \
    {"rate",                                                                                       \
     TY_KEY_NUMBER,                                                                                \
     .at = rate_at,                                                                                \
     .unit = "1/s",                                                                                \
     .fallback = "@rate",                                                                          \
     .fallback_says = "frames.rate",                                                               \
     POSITIVE,                                                                                     \
     .sentence = "Files per second, when the name holds ####."},                                   \
    {                                                                                              \
        "start", TY_KEY_INTEGER,                                                                   \
            .at = start_at, .unit = "", .fallback = "1", .min = 0, .max = 1e6,                     \
            .sentence = "Number of the file at time 0, when the name holds ####."                  \
    }
#define GROUP_OF(type, word, its_keys, its_check, says, such_as)                                   \
    {                                                                                              \
        .name = word, .sentence = says, .size = sizeof(type), .keys = its_keys,                    \
        .check = its_check, .example = such_as                                                     \
    }

static const ty_key box_keys[] = {
    POINT("min", SHAPE(min), NULL, "The corner with the least coordinates."),
    POINT("max", SHAPE(max), NULL, "The opposite corner."),
    {0}};
static const ty_group box_group = GROUP_OF(ty_shape_def, "box", box_keys, ty_check_box,
                                           "A box along the axes.",
                                           "box: {min: [0, 0, 0], max: [0.5, 0.6, 1]}");
static const ty_key sphere_keys[] = {
    POINT("center", SHAPE(center), NULL, "The centre."), RADIUS(SHAPE(radius), "The radius."), {0}};
static const ty_group sphere_group = GROUP_OF(ty_shape_def, "sphere", sphere_keys, NULL, "A ball.",
                                              "sphere: {center: [1.2, 0, 0.5], radius: 0.2}");
static const ty_key rod_keys[] = {POINT("from", SHAPE(from), NULL, "One end of the axis."),
                                  POINT("to", SHAPE(to), NULL, "The other end."),
                                  RADIUS(SHAPE(radius), "The radius."),
                                  {0}};
static const ty_group cylinder_group = GROUP_OF(
    ty_shape_def, "cylinder", rod_keys, ty_check_rod, "A cylinder with flat ends.",
    "cylinder: {from: [1, 0, 0.5], to: [1, 0.05, 0.5], radius: 0.1}");
static const ty_group capsule_group = GROUP_OF(
    ty_shape_def, "capsule", rod_keys, ty_check_rod, "A cylinder with round ends.",
    "capsule: {from: [0, 1, 0], to: [1, 1, 0], radius: 0.1}");
static const ty_key plane_keys[] = {
    POINT("point", SHAPE(point), "[0, 0, 0]", "A point of the plane."),
    DIRECTION("normal", SHAPE(normal), "Points out of the filled half."),
    {0}};
static const ty_group plane_group = GROUP_OF(ty_shape_def, "plane", plane_keys, ty_check_plane,
                                             "Everything below a plane.",
                                             "plane: {point: [0, 0.3, 0], normal: [0, 1, 0]}");
static const ty_key torus_keys[] = {
    POINT("center", SHAPE(center), NULL, "The centre."),
    DIRECTION("axis", SHAPE(axis), "The ring lies across it."),
    RADIUS(SHAPE(radius), "From the centre to the middle of the tube."),
    {"tube", TY_KEY_NUMBER, .at = SHAPE(tube), .unit = "m", POSITIVE, .required = true,
     .sentence = "Radius of the tube."},
    {0}};
static const ty_group torus_group = GROUP_OF(ty_shape_def, "torus", torus_keys, ty_check_torus,
                                             "A ring.",
                                             "torus: {center: [0, 1, 0], radius: 0.4, tube: 0.1}");
static const ty_key mesh_keys[] = {
    {"file", TY_KEY_FILE, .at = SHAPE(file), .unit = "", .required = true, .sequence = true,
     .sentence =
         "A closed triangle mesh: .obj, .ply or .stl; body.####.obj for one file per frame."},
    {"scale", TY_KEY_NUMBER, .at = SHAPE(scale), .unit = "", .fallback = "1", POSITIVE,
     .sentence = "Coordinates are multiplied by this: 0.01 when the file is in centimetres."},
    {"offset", TY_KEY_VEC3, .at = SHAPE(offset), .unit = "m", .fallback = "[0, 0, 0]",
     .sentence = "Then this is added."},
    SEQUENCE(SHAPE(file_rate), SHAPE(file_start)),
    {0}};
static const ty_group mesh_group = GROUP_OF(ty_shape_def, "mesh", mesh_keys, NULL,
                                            "The inside of a triangle mesh.",
                                            "mesh: {file: bucket.obj, scale: 0.01}");
static const ty_key levels_keys[] = {
    {"file", TY_KEY_FILE, .at = SHAPE(file), .unit = "", .required = true, .sequence = true,
     .sentence = "An OpenVDB file; body.####.vdb for one file per frame."},
    {"grid", TY_KEY_TEXT, .at = SHAPE(grid), .unit = "", .fallback = "surface",
     .sentence = "Which of the file's grids."},
    SEQUENCE(SHAPE(file_rate), SHAPE(file_start)),
    {0}};
static const ty_group levels_group = GROUP_OF(ty_shape_def, "volume shape", levels_keys, NULL,
                                              "The inside of a level set volume.",
                                              "volume: {file: splash.vdb, grid: surface}");

static const ty_key turn_keys[] = {
    DIRECTION("axis", TY_AT(ty_pose_key, axis), "The axis to turn about."),
    {"degrees", TY_KEY_NUMBER, .at = TY_AT(ty_pose_key, degrees), .unit = "degrees",
     .fallback = "0", .sentence = "How far; counter-clockwise seen against the axis."},
    POINT("about", TY_AT(ty_pose_key, about), "[0, 0, 0]", "A point that stays where it is."),
    {0}};
static const ty_group turn_group = GROUP_OF(
    ty_pose_key, "turn", turn_keys, ty_check_turn, "A rotation.",
    "turn: {axis: [0, 0, 1], degrees: 90, about: [1, 0, 0]}");
static const ty_key pose_keys[] = {{"time", TY_KEY_NUMBER, .at = TY_AT(ty_pose_key, time),
                                    .unit = "s", .required = true, .sentence = "When."},
                                   POINT("move", TY_AT(ty_pose_key, move), "[0, 0, 0]",
                                         "How far from where the shape was defined."),
                                   {"turn", TY_KEY_GROUP, .at = SAME, .unit = "",
                                    .group = &turn_group, .sentence = "How it is turned."},
                                   {"scale", TY_KEY_NUMBER, .at = TY_AT(ty_pose_key, scale),
                                    .unit = "", .fallback = "1", POSITIVE,
                                    .sentence = "Its size, about the point `turn.about`."},
                                   {0}};
static const ty_group pose_group = GROUP_OF(
    ty_pose_key, "pose", pose_keys, NULL,
    "Where a shape is at one time; between, it moves smoothly.",
    "motion: [{time: 0}, {time: 2, move: [0, 0.5, 0], turn: {axis: [0, 0, 1], degrees: 90}}]");

#define SHAPES(word, which, least, what)                                                           \
    {                                                                                              \
        word, TY_KEY_LIST, .at = SHAPE(children), .count_at = SHAPE(n_children), .unit = "",       \
                           .variant = true, .value = which, .min_items = least,                    \
                           .group = &ty_shape_group, .sentence = what                              \
    }
#define ONE_SHAPE(word, which, its_group, what)                                                    \
    {                                                                                              \
        word, TY_KEY_GROUP, .at = SAME, .unit = "", .variant = true, .value = which,               \
                            .group = &its_group, .sentence = what                                  \
    }
static const ty_key shape_keys[] = {
    ONE_SHAPE("box", TY_SHAPE_BOX, box_group, "A box along the axes."),
    ONE_SHAPE("sphere", TY_SHAPE_SPHERE, sphere_group, "A ball."),
    ONE_SHAPE("cylinder", TY_SHAPE_CYLINDER, cylinder_group, "A cylinder with flat ends."),
    ONE_SHAPE("capsule", TY_SHAPE_CAPSULE, capsule_group, "A cylinder with round ends."),
    ONE_SHAPE("plane", TY_SHAPE_PLANE, plane_group, "Everything below a plane."),
    ONE_SHAPE("torus", TY_SHAPE_TORUS, torus_group, "A ring."),
    ONE_SHAPE("mesh", TY_SHAPE_MESH, mesh_group, "The inside of a triangle mesh."),
    ONE_SHAPE("volume", TY_SHAPE_VOLUME, levels_group, "The inside of a level set volume."),
    {"formula", TY_KEY_FORMULA, .at = SHAPE(formula), .unit = "m", .variant = true,
     .value = TY_SHAPE_FORMULA, .sentence = "Where an expression of x, y, z, t is negative."},
    SHAPES("union", TY_SHAPE_UNION, 1, "All of these shapes together."),
    SHAPES("intersection", TY_SHAPE_INTERSECTION, 1, "What these shapes have in common."),
    SHAPES("difference", TY_SHAPE_DIFFERENCE, 1, "The first shape without the others."),
    {"invert", TY_KEY_BOOL, .at = SHAPE(invert), .unit = "", .fallback = "false",
     .sentence = "Everything outside the shape instead of inside."},
    {"motion", TY_KEY_LIST, .at = SHAPE(keys), .count_at = SHAPE(n_keys), .unit = "",
     .group = &pose_group, .sentence = "Key frames; poses are absolute."},
    {"ease", TY_KEY_FLAG, .at = SHAPE(linear), .unit = "", .fallback = "smooth",
     .choices = ty_ease_choices, .sentence = "How motion goes from key frame to key frame."},
    {0}};
const ty_group ty_shape_group = {
    .name = "shape",
    .sentence = "A region of space. Exactly one of the shapes, and how it moves.",
    .size = sizeof(ty_shape_def),
    .kind_at = TY_AT(ty_shape_def, kind),
    .variants = "shape",
    .keys = shape_keys,
    .check = ty_check_shape,
    .example = "difference: [{sphere: {center: [0, 1, 0], radius: 0.5}}, {box: "
               "{min: [-1, 1, -1], max: [1, 2, 1]}}]",
    .start = ty_start_shape};

static const ty_key value_key_keys[] = {{"time", TY_KEY_NUMBER, .at = TY_AT(ty_value_key, time),
                                         .unit = "s", .required = true, .sentence = "When."},
                                        {"value", TY_KEY_NUMBER, .at = TY_AT(ty_value_key, value),
                                         .unit = "", .required = true,
                                         .sentence = "The value then."},
                                        {0}};
const ty_group ty_value_key_group = GROUP_OF(ty_value_key, "key frame", value_key_keys, NULL,
                                             "A number at one time.",
                                             "blend: [{time: 0, value: 0}, {time: 1, value: 0.4}]");
static const ty_key vector_key_keys[] = {{"time", TY_KEY_NUMBER, .at = TY_AT(ty_value_key, time),
                                          .unit = "s", .required = true, .sentence = "When."},
                                         {"value", TY_KEY_VEC3, .at = TY_AT(ty_value_key, value),
                                          .unit = "", .required = true,
                                          .sentence = "The vector then."},
                                         {0}};
const ty_group ty_vector_key_group = GROUP_OF(
    ty_value_key, "vector key frame", vector_key_keys, NULL, "A vector at one time.",
    "velocity: [{time: 0, value: [0, 0, 0]}, {time: 1, value: [1, 0, 0]}]");
static const ty_key varying_keys_keys[] = {
    {"keys", TY_KEY_LIST, .at = TY_AT(ty_varying, keys), .count_at = TY_AT(ty_varying, n_keys),
     .unit = "", .required = true, .min_items = 1, .group = &ty_value_key_group,
     .sentence = "The key frames."},
    {"ease", TY_KEY_FLAG, .at = TY_AT(ty_varying, linear), .unit = "", .fallback = "smooth",
     .choices = ty_ease_choices, .sentence = "How the value goes from key frame to key frame."},
    {0}};
const ty_group ty_varying_keys_group = GROUP_OF(
    ty_varying, "key frames", varying_keys_keys, NULL, "Key frames with a choice of easing.",
    "blend: {keys: [{time: 0, value: 0}, {time: 1, value: 0.4}], ease: linear}");
static const ty_key varying_file_keys[] = {
    {"file", TY_KEY_FILE, .at = TY_AT(ty_varying, volume_file), .unit = "", .required = true,
     .sequence = true, .sentence = "An OpenVDB file; wind.####.vdb for one file per frame."},
    {"grid", TY_KEY_TEXT, .at = TY_AT(ty_varying, volume_grid), .unit = "", .fallback = "velocity",
     .sentence = "Which of the file's grids."},
    SEQUENCE(TY_AT(ty_varying, volume_rate), TY_AT(ty_varying, volume_start)),
    {0}};
const ty_group ty_varying_file_group = GROUP_OF(
    ty_varying, "field", varying_file_keys, NULL, "Values from OpenVDB files.",
    "velocity: {file: preview/volume/volume.####.vdb, grid: velocity}");

#define ITS_SHAPE(type)                                                                            \
    {                                                                                              \
        NULL, TY_KEY_INLINE, .at = TY_AT(type, shape), .unit = "", .group = &ty_shape_group,       \
                             .sentence = "Its shape."                                              \
    }
#define VELOCITY(type, what)                                                                       \
    {                                                                                              \
        "velocity", TY_KEY_VARYING3, .at = TY_AT(type, velocity), .unit = "m/s",                   \
                                     .fallback = "[0, 0, 0]", .sentence = what                     \
    }
#define ACTIVE(type)                                                                               \
    {                                                                                              \
        "active", TY_KEY_PAIR, .at = TY_AT(type, active), .unit = "s", .fallback = "[0, .inf]",    \
                               .sentence = "From when to when it is on."                           \
    }

static const ty_key liquid_keys[] = {
    ITS_SHAPE(ty_liquid_def), VELOCITY(ty_liquid_def, "Velocity at the start."), {0}};
const ty_group ty_liquid_group = GROUP_OF(
    ty_liquid_def, "liquid", liquid_keys, NULL, "A body of liquid at the start: a shape and",
    "liquid:\n  - box: {min: [0, 0, 0], max: [0.5, 0.6, 1]}\n    velocity: [1, 0, 0]");
static const ty_key obstacle_keys[] = {
    ITS_SHAPE(ty_obstacle_def),
    {"slip", TY_KEY_NUMBER, .at = TY_AT(ty_obstacle_def, slip), .unit = "share", .fallback = "1",
     SHARE, .sentence = "1: the liquid slides along freely; 0: it sticks."},
    {"velocity", TY_KEY_VARYING3, .at = TY_AT(ty_obstacle_def, velocity),
     .has_at = TY_AT(ty_obstacle_def, has_velocity), .unit = "m/s", .fallback = "[0, 0, 0]",
     .sentence = "Of its surface beside its motion (a conveyor), or of a level set sequence."},
    {0}};
const ty_group ty_obstacle_group = GROUP_OF(
    ty_obstacle_def, "obstacle", obstacle_keys, NULL, "A solid: a shape and",
    "obstacles:\n  - mesh: {file: bucket.obj}\n    slip: 0\n    motion: [{time: 0}, "
    "{time: 2, move: [0, 0.5, 0]}]");
static const ty_key source_keys[] = {
    ITS_SHAPE(ty_source_def),
    VELOCITY(ty_source_def, "With which liquid leaves it."),
    ACTIVE(ty_source_def),
    {"rate", TY_KEY_VARYING, .at = TY_AT(ty_source_def, rate),
     .has_at = TY_AT(ty_source_def, has_rate), .unit = "m3/s", NOT_NEGATIVE, .fallback = "0",
     .time_only = true, .fallback_says = "what the velocity carries through its surface",
     .sentence = "How much liquid comes in."},
    {0}};
const ty_group ty_source_group = GROUP_OF(ty_source_def, "source", source_keys, NULL,
                                          "A region that is liquid while it is on: a shape and",
                                          "sources:\n  - box: {min: [0, 0.8, 0.4], max: [0.1, 0.9, "
                                          "0.6]}\n    velocity: [1, 0, 0]\n    active: [0, 2.5]");
static const ty_key drain_keys[] = {ITS_SHAPE(ty_drain_def), ACTIVE(ty_drain_def), {0}};
const ty_group ty_drain_group = GROUP_OF(
    ty_drain_def, "drain", drain_keys, NULL, "A region that takes away what enters it: a shape and",
    "drains:\n  - cylinder: {from: [1, 0, 0.5], to: [1, 0.05, 0.5], radius: 0.1}");
static const ty_key steer_keys[] = {
    ITS_SHAPE(ty_steer_def),
    VELOCITY(ty_steer_def, "The velocity to go to."),
    {"blend", TY_KEY_VARYING, .at = TY_AT(ty_steer_def, blend), .unit = "share", .fallback = "1",
     SHARE,
     .sentence = "How much of the way the liquid goes there per frame, at 24 frames a second."},
    {0}};
const ty_group ty_steer_group = GROUP_OF(
    ty_steer_def, "steer", steer_keys, NULL,
    "A velocity blended in before the projection: a shape and",
    "steer:\n  - box: {min: [0, 0, 0], max: [1, 1, 1]}\n    velocity: [0, 0, 1]\n    "
    "blend: [{time: 0, value: 0}, {time: 1, value: 0.4}]");

#define STRENGTH(its_unit, what)                                                                   \
    {                                                                                              \
        "strength", TY_KEY_VARYING, .at = FORCE(strength), .unit = its_unit, .fallback = "1",      \
                                    .sentence = what                                               \
    }
#define REACH                                                                                      \
    {                                                                                              \
        "radius", TY_KEY_NUMBER, .at = FORCE(radius), .unit = "m", .fallback = "0", NOT_NEGATIVE,  \
                                 .fallback_says = "0: no end", .sentence = "How far it reaches."   \
    }
static const ty_key point_keys[] = {
    POINT("center", FORCE(center), NULL, "Where it pulls to."),
    STRENGTH("m/s2", "Acceleration towards the centre; negative pushes away."),
    REACH,
    {0}};
static const ty_group point_group = GROUP_OF(
    ty_force_def, "point force", point_keys, NULL, "Attracts or repels.",
    "- point: {center: [1, 1, 0.5], strength: 5, radius: 0.5}");
static const ty_key vortex_keys[] = {
    POINT("center", FORCE(center), NULL, "A point of the axis."),
    DIRECTION("axis", FORCE(axis), "The liquid is turned about it."),
    STRENGTH("m/s2", "Acceleration around the axis."),
    REACH,
    {0}};
static const ty_group vortex_group = GROUP_OF(
    ty_force_def, "vortex force", vortex_keys, ty_check_force_axis, "Turns the liquid.",
    "- vortex: {center: [1, 0, 0.5], strength: 3, radius: 0.4}");
static const ty_key wind_keys[] = {{"velocity", TY_KEY_VARYING3, .at = FORCE(vector), .unit = "m/s",
                                    .required = true, .sentence = "Of the air."},
                                   STRENGTH("1/s", "How fast the liquid takes the air's velocity."),
                                   {0}};
static const ty_group wind_group = GROUP_OF(ty_force_def, "wind force", wind_keys, NULL,
                                            "Drags the liquid along.",
                                            "- wind: {velocity: [3, 0, 0], strength: 0.5}");
static const ty_key turbulence_keys[] = {
    STRENGTH("m/s2", "Largest acceleration."),
    {"scale", TY_KEY_NUMBER, .at = FORCE(scale), .unit = "m", .fallback = "0.2", POSITIVE,
     .sentence = "Size of the swirls."},
    {"speed", TY_KEY_NUMBER, .at = FORCE(speed), .unit = "1/s", .fallback = "1", NOT_NEGATIVE,
     .sentence = "How often the swirls change."},
    {0}};
static const ty_group turbulence_group = GROUP_OF(ty_force_def, "turbulence force", turbulence_keys,
                                                  NULL, "Curl noise.",
                                                  "- turbulence: {strength: 2, scale: 0.3}");
static const ty_key spline_keys[] = {
    {"points", TY_KEY_POINTS, .at = FORCE(points), .count_at = FORCE(n_points), .unit = "m",
     .required = true, .min_items = 2, .sentence = "The curve goes through them."},
    {"radius", TY_KEY_NUMBER, .at = FORCE(radius), .unit = "m", .required = true, POSITIVE,
     .sentence = "How far from the curve it acts."},
    STRENGTH("m/s2", "Acceleration along the curve."),
    {0}};
static const ty_group spline_group = GROUP_OF(
    ty_force_def, "spline force", spline_keys, NULL, "Makes the liquid follow a curve.",
    "- spline: {points: [[0, 0.5, 0.5], [1, 0.8, 0.5]], radius: 0.2, strength: 3}");
static const ty_key guide_keys[] = {
    {"file", TY_KEY_FILE, .at = FORCE(file), .unit = "", .required = true,
     .sentence = "A triangle mesh: .obj, .ply or .stl."},
    {"radius", TY_KEY_NUMBER, .at = FORCE(radius), .unit = "m", .required = true, POSITIVE,
     .sentence = "How far from the mesh it acts."},
    STRENGTH("m/s2", "Acceleration towards the mesh."),
    {"along", TY_KEY_VARYING3, .at = FORCE(vector), .unit = "m/s2", .fallback = "[0, 0, 0]",
     .sentence = "And along the mesh: the part of this that does not go through it."},
    {0}};
static const ty_group guide_group = GROUP_OF(
    ty_force_def, "guide force", guide_keys, NULL, "Pulls the liquid onto a mesh.",
    "- guide: {file: dragon.obj, radius: 0.1, strength: 5}");
static const ty_key custom_keys[] = {
    {"kind", TY_KEY_TEXT, .at = FORCE(custom), .unit = "", .required = true,
     .sentence = "The name the application registered it with."},
    {"vector", TY_KEY_VARYING3, .at = FORCE(vector), .unit = "", .fallback = "[0, 0, 0]",
     .sentence = "Its own meaning, as for those below."},
    STRENGTH("", "How strong."),
    POINT("center", FORCE(center), "[0, 0, 0]", "Where."),
    DIRECTION("axis", FORCE(axis), "A direction."),
    REACH,
    {"scale", TY_KEY_NUMBER, .at = FORCE(scale), .unit = "m", .fallback = "1", POSITIVE,
     .sentence = "A size."},
    {"speed", TY_KEY_NUMBER, .at = FORCE(speed), .unit = "1/s", .fallback = "1", NOT_NEGATIVE,
     .sentence = "A speed."},
    {0}};
static const ty_group custom_group = GROUP_OF(
    ty_force_def, "custom force", custom_keys, ty_check_custom_force,
    "A force that the application added.", "- custom: {kind: tide, strength: 2}");
static const ty_key force_keys[] = {
    {"gravity", TY_KEY_VARYING3, .at = FORCE(vector), .unit = "m/s2", .variant = true,
     .value = TY_FORCE_GRAVITY, .time_only = true,
     .sentence = "The same everywhere; [0, -9.81, 0] when no force says otherwise."},
    ONE_SHAPE("point", TY_FORCE_POINT, point_group, "Attracts or repels."),
    ONE_SHAPE("vortex", TY_FORCE_VORTEX, vortex_group, "Turns the liquid about an axis."),
    ONE_SHAPE("wind", TY_FORCE_WIND, wind_group, "Drags the liquid along."),
    ONE_SHAPE("turbulence", TY_FORCE_TURBULENCE, turbulence_group, "Curl noise."),
    ONE_SHAPE("spline", TY_FORCE_SPLINE, spline_group, "Makes the liquid follow a curve."),
    ONE_SHAPE("guide", TY_FORCE_GUIDE, guide_group, "Pulls the liquid onto a mesh."),
    {"field", TY_KEY_VARYING3, .at = FORCE(vector), .unit = "m/s2", .variant = true,
     .value = TY_FORCE_FIELD, .sentence = "Any acceleration."},
    ONE_SHAPE("custom", TY_FORCE_CUSTOM, custom_group, "A force that the application added."),
    {"inside", TY_KEY_GROUP, .at = FORCE(region), .has_at = FORCE(bounded), .unit = "",
     .group = &ty_shape_group, .fallback_says = "everywhere",
     .sentence = "The force acts only in this shape."},
    ACTIVE(ty_force_def),
    {0}};
const ty_group ty_force_group = {
    .name = "force",
    .sentence = "What pushes the liquid. Exactly one kind of force, and where and when it acts.",
    .size = sizeof(ty_force_def),
    .kind_at = TY_AT(ty_force_def, kind),
    .variants = "force",
    .keys = force_keys,
    .check = ty_check_force,
    .example =
        "forces:\n  - gravity: [0, -9.81, 0]\n  - field: [\"-y\", \"x\", 0]\n    inside: {sphere: "
        "{center: [0, 0, 0], radius: 1}}",
    .start = ty_start_force};

static const ty_key camera_keys[] = {
    {"name", TY_KEY_TEXT, .at = TY_AT(ty_camera_def, name), .unit = "", .required = true,
     .sentence = "What it is called."},
    {"eye", TY_KEY_VARYING3, .at = TY_AT(ty_camera_def, eye), .unit = "m", .required = true,
     .time_only = true, .sentence = "Where it is."},
    {"target", TY_KEY_VARYING3, .at = TY_AT(ty_camera_def, target), .unit = "m", .required = true,
     .time_only = true, .sentence = "What it looks at."},
    DIRECTION("up", TY_AT(ty_camera_def, up), "What is up in the picture."),
    {"fov", TY_KEY_NUMBER, .at = TY_AT(ty_camera_def, fov), .unit = "degrees", .fallback = "40",
     .min = 1, .max = 170, .sentence = "Vertical field of view."},
    {0}};
const ty_group ty_camera_group = GROUP_OF(
    ty_camera_def, "camera", camera_keys, ty_check_camera, "Where pictures are taken from.",
    "cameras:\n  - {name: main, eye: [3, 1.5, 3], target: [1, 0.4, 0.5], fov: 40}");

static const ty_choice axes[] = {
    {"x", 0, "along x", NULL}, {"y", 1, "along y", NULL}, {"z", 2, "along z", NULL}, {0}};
#define PROBE(field) TY_AT(ty_probe_def, field)
static const ty_key probe_keys[] = {
    {"name", TY_KEY_TEXT, .at = PROBE(name), .unit = "", .required = true,
     .sentence = "Its column in probes.csv."},
    {"height", TY_KEY_FLAT, .at = PROBE(at), .unit = "m", .variant = true, .value = TY_PROBE_HEIGHT,
     .sentence = "Wetted length of an upright wire at [x, z] (up: z: [x, y])."},
    {"pressure", TY_KEY_VEC3, .at = PROBE(at), .unit = "m", .variant = true,
     .value = TY_PROBE_PRESSURE, .sentence = "Pressure at a point, in Pa."},
    {"velocity", TY_KEY_VEC3, .at = PROBE(at), .unit = "m", .variant = true,
     .value = TY_PROBE_VELOCITY, .sentence = "Velocity at a point, in m/s: three columns."},
    {"front", TY_KEY_CHOICE, .at = PROBE(axis), .unit = "", .variant = true,
     .value = TY_PROBE_FRONT, .choices = axes,
     .sentence = "Largest coordinate of the liquid along an axis, in m."},
    {0}};
const ty_group ty_probe_group = {
    .name = "probe",
    .sentence = "What an experiment would measure. Exactly one kind of probe.",
    .size = sizeof(ty_probe_def),
    .kind_at = PROBE(kind),
    .variants = "probe",
    .keys = probe_keys,
    .check = ty_check_probe,
    .example =
        "probes:\n  - {name: h1, height: [1.5, 0.5]}\n  - {name: p1, pressure: [1.0, 0.05, 0.5]}"};
