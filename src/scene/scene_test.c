// SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "format/file.h"
#include "scene/read.h"
#include "test.h"

enum { MOST = 20, LONGEST = 1300 };

typedef struct heard {
    int n, n_errors;
    ty_scene_message at[MOST];
} heard;

static void hear(void* self, const ty_scene_message* message)
{
    heard* h = self;
    h->n_errors += message->is_error;
    if (h->n < MOST) h->at[h->n++] = *message;
}

static ty_status read_text(ty_sim_def* def, const char* text, int n_set, const char* const* set,
                           heard* h)
{
    *h = (heard){.n = 0};
    return ty_scene_read_text(def, "test.yaml", text, (int64_t)strlen(text), n_set, set, hear, h);
}

// Six lines that every case below is appended to.
#define GOOD                                                                                       \
    "domain: {size: [2, 1, 1]}\n"                                                                  \
    "solver: {kind: prescribed, velocity: [1, 0, 0]}\n"                                            \
    "surface: {tracker: levelset}\n"                                                               \
    "liquid:\n"                                                                                    \
    "  - box: {min: [0, 0, 0], max: [1, 0.5, 1]}\n"                                                \
    "frames: {count: 10}\n"
#define NO_LIQUID "domain: {size: [2, 1, 1]}\nsolver: {kind: prescribed, velocity: [1, 0, 0]}\n"

typedef struct bad_scene {
    const char* text;
    int line, column;
    const char* message;    // part of it
} bad_scene;

static const bad_scene bad_scenes[] = {
    {GOOD "resolutoin: 64\n", 7, 1,
     "unknown key 'resolutoin' in 'scene'; did you mean 'resolution'?"},
    {GOOD "xyzzyx: 64\n", 7, 1, "unknown key 'xyzzyx' in 'scene' (known: name, fluid,"},
    {GOOD "cell: 0.05\nresolution: 64\n", 8, 1, "'cell' and 'resolution' are both given"},
    {GOOD "cell: 0\n", 7, 7, "'cell' must be between 1e-06 and 1e+06 (m), not 0"},
    {GOOD "cell: 0.05m\n", 7, 7, "'cell' must be a number (m) with nothing behind it, not '0.05m'"},
    {GOOD "cell: nan\n", 7, 7, "'cell' must be a number (m), not 'nan'"},
    {GOOD "cell: .inf\n", 7, 7, "'cell' must be a number (m), not '.inf'"},
    {GOOD "cell: 1e999\n", 7, 7, "'cell' must be a number"},
    {GOOD "cell: [1, 2]\n", 7, 7, "'cell' must be a number (m), not a list"},
    {GOOD "cell:\n", 7, 1, "'cell' must be a number (m), not nothing"},
    {GOOD "cell: 1e-5\n", 7, 1, "too small for the domain"},
    {GOOD "name: ../x\n", 7, 1, "nor hold a '/'"},
    {GOOD "name: \"\xc3\xa4\xc3\xa4\" # \xc3\xa4\nprobes: [{name: \xc3\xa4, front: w}]\n", 8, 27,
     "'front' must be one of"},
    {GOOD "cell: 0.1\r\nbogus: 2\r\n", 8, 1, "unknown key 'bogus'"},
    {GOOD "obstacles:\n  - sphere: {center: [0, 0, 1e20], radius: 1}\n", 8, 29,
     "'center' must not be as large as 1e+20"},
    {GOOD "cell: 1.5\n", 7, 1, "too large for the domain"},
    {GOOD "cell: 0.1\ncell: 0.2\n", 8, 1, "key 'cell' is given twice; the first is in line 7"},
    {GOOD "resolution: 1.5\n", 7, 13, "'resolution' must be a whole number, not '1.5'"},
    {GOOD "resolution:\n", 7, 1, "'resolution' must be a whole number, not nothing"},
    {GOOD "resolution: 1\n", 7, 13, "'resolution' must be between 2 and 100000 (cells), not 1"},
    {GOOD "output: {surface: obj}\n", 7, 19, "'surface' must be one of none, ply, not 'obj'"},
    {GOOD "output: {surface: plyy}\n", 7, 19, "did you mean 'ply'?"},
    {GOOD "output: {tets: vtk}\n", 7, 16, "'tets' must be one of none, vtu, not 'vtk'"},
    {GOOD "fluid: smoke\n", 7, 8, "'fluid: smoke' is not available yet"},
    {GOOD "output: ply\n", 7, 9, "'output' must be a group of keys, not text 'ply'"},
    {GOOD "obstacles: {sphere: {center: [0, 0, 0], radius: 1}}\n", 7, 12,
     "'obstacles' must be a list"},
    {GOOD "obstacles:\n  - sphere: {center: [0, 0], radius: 1}\n", 8, 22,
     "'center' must be three numbers [x, y, z] (m), not 2"},
    {GOOD "obstacles:\n  - sphere: {center: [0, 0, 0], radius: -1}\n", 8, 41,
     "'radius' must be above 0 (m), not -1"},
    {GOOD "obstacles:\n  - sphere: {radius: 1}\n", 8, 13, "'sphere' needs the key 'center' (m)"},
    {GOOD "obstacles:\n  - spere: {radius: 1}\n", 8, 5,
     "unknown key 'spere' in 'obstacle'; did you mean 'sphere'?"},
    {GOOD "obstacles:\n  - slip: 1\n", 8, 5, "no shape here; give one of: box, sphere"},
    {GOOD "obstacles:\n  - sphere: {center: [0, 0, 0], radius: 1}\n    box: {min: [0, 0, 0], max: "
          "[1, 1, 1]}\n",
     9, 5, "'box' beside 'sphere': only one shape in one item"},
    {GOOD "obstacles:\n  - box: {min: [0, 0, 0], max: [1, 0, 1]}\n", 8, 27,
     "'box': max y (0) must be above min y (0)"},
    {GOOD "obstacles:\n  - union: []\n", 8, 12, "'union' is empty"},
    {GOOD "obstacles:\n  - mesh: {file: no/such.obj}\n", 8, 18, "no/such.obj': No such file"},
    {GOOD "obstacles:\n  - mesh: {file: no.####.obj}\n", 8, 18, "no file matches"},
    {GOOD "obstacles:\n  - mesh: {file: .}\n", 8, 18, "is not a file"},
    {GOOD "obstacles:\n  - plane: {normal: [0, 0, 0]}\n", 8, 13, "'normal' must not be zero"},
    {GOOD "obstacles:\n  - plane: {}\n    motion: [{time: 1}, {time: 1}]\n", 9, 25,
     "times of key frames must rise"},
    {GOOD "obstacles:\n  - plane: {}\n    slip: true\n", 9, 11,
     "'slip' must be a number (share), not 'true'"},
    {GOOD "obstacles:\n  - formula: \"x + sn(y)\"\n", 8, 19,
     "'formula': unknown name 'sn'; did you mean 'sin'?"},
    {GOOD "obstacles:\n  - formula: x + (y\n", 8, 20, "'formula': the expression ends too early"},
    {GOOD "forces:\n  - gravity: [0, \"-9.81*x\", 0]\n", 8, 18,
     "'gravity' may vary in time (t) only"},
    {GOOD "forces:\n  - gravity: [0, -9, 0]\n  - gravity: [0, -8, 0]\n", 9, 5,
     "gravity is given twice"},
    {GOOD "forces:\n  - field: [0, \"1 +* 2\", 0]\n", 8, 20, "'field': "},
    {GOOD "forces:\n  - field: [0, 1]\n", 8, 12, "'field' must be [x, y, z]"},
    {GOOD "forces:\n  - tide: 1\n", 8, 5, "unknown key 'tide' in 'force'"},
    {GOOD "forces:\n  - custom: {kind: tide}\n", 8, 14, "no force is registered as 'tide'"},
    {GOOD "surface: {volume: {correct: yes}}\n", 7, 1, "key 'surface' is given twice"},
    {GOOD "frames: {rate: 0}\n", 7, 16, "'rate' must be between 0.001 and 1e+06 (1/s), not 0"},
    {GOOD "steer:\n  - plane: {}\n    blend: 2\n", 9, 12,
     "'blend' must be between 0 and 1 (share), not 2"},
    {GOOD "steer:\n  - plane: {}\n    blend: [{time: 0, value: 0}, {time: 0, value: 1}]\n", 9, 34,
     "times of key frames must rise"},
    {GOOD "steer:\n  - plane: {}\n    blend: [{time: 0, valu: 0}]\n", 9, 23,
     "unknown key 'valu' in 'key frame'; did you mean 'value'?"},
    {GOOD "sources:\n  - plane: {}\n    active: [2, 1]\n", 9, 13,
     "'active' ends (1) before it starts (2)"},
    {GOOD "probes:\n  - {name: a, front: w}\n", 8, 22, "'front' must be one of x, y, z, not 'w'"},
    {GOOD "probes:\n  - {name: a, front: x}\n  - {name: a, front: x}\n", 9, 5,
     "two probes are called 'a'"},
    {GOOD "cameras:\n  - {name: a, eye: [0, 0, 0], target: [0, 0, 0]}\n", 8, 31,
     "'eye' and 'target' are the same point"},
    {GOOD "walls: {top: {slip: 2}}\n", 7, 21, "'slip' must be between 0 and 1 (share), not 2"},
    {GOOD "? [1, 2]\n: 3\n", 7, 3, "a key must be a word"},
    {GOOD "name: *nothing\n", 7, 7, "this alias has no anchor"},
    {GOOD "name: &a [*a]\n", 7, 11, "this alias stands inside what it repeats"},
    {GOOD "---\nname: b\n", 7, 1, "a second document"},
    {GOOD "name: {a: [1, 2}\n", 7, 0, ""},
    {GOOD "name: [1, 2\n", 7, 7, "without a closing bracket"},
    {GOOD "obstacles:\n\t- plane: {}\n", 8, 1, "a tab in the indentation"},
    {GOOD "name: \xff\n", 7, 0, "not UTF-8"},
    {GOOD "name: \x01\n", 7, 7, "control character"},
    {"", 1, 1, "the scene is empty"},
    {"# nothing here\n", 1, 1, "the scene is empty"},
    {"- a\n- b\n", 1, 1, "a scene is a group of keys"},
    {"just text\n", 1, 1, "a scene is a group of keys"},
    {NO_LIQUID, 1, 1, "no liquid"},
    {NO_LIQUID "liquid: []\n", 3, 1, "no liquid"},
    {NO_LIQUID "liquid: 3\n", 3, 9, "'liquid' must be a list"},
    {"domain: {min: [0, 0, 0]}\nliquid: [{plane: {}}]\n", 1, 9, "'domain' needs 'size' or 'max'"},
    {"domain: {size: [1, 1, 1], max: [1, 1, 1]}\nliquid: [{plane: {}}]\n", 1, 10,
     "'size' and 'max' are both given"},
    {"domain: {size: [1, 0, 1]}\nliquid: [{plane: {}}]\n", 1, 20,
     "'size' must be above 0 (m), not 0"},
    {"domain: {size: [1, 1, 1], closed: [left, rigth]}\nliquid: [{plane: {}}]\n", 1, 42,
     "did you mean 'right'?"},
    {"solver: {kind: prescribed, velocity: [0, 0, 0]}\nliquid: [{plane: {}}]\n", 1, 1,
     "size of a cell must be given"},
    {"domain: {size: [1, 1, 1]}\nsolver: {kind: prescribed}\nliquid: [{plane: {}}]\n", 2, 10,
     "needs 'velocity'"},
    {"domain: {size: [1, 1, 1]}\nsolver: {kind: gird}\nliquid: [{plane: {}}]\n", 2, 16,
     "did you mean 'grid'?"},
    {"domain: {size: [1, 1, 1]}\nsolver: {kind: grid, surface_tension: 0.07}\nliquid: [{plane: {}}]\n",
     2, 22, "solver 'grid' has no 'surface_tension'; use kind: tet, or leave the key out"},
    {"domain: {size: [1, 1, 1]}\nsolver: {kind: voronoi}\nliquid: [{plane: {}}]\n", 2, 16,
     "'kind: voronoi' is not available yet"},
};

// Other mistakes may follow from the first; the one that is looked for has to be among them, at its
// place.
static bool is_reported(const bad_scene* bad)
{
    ty_sim_def def;
    heard h;
    ty_status status = read_text(&def, bad->text, 0, NULL, &h);
    if (status.code == TY_OK) ty_sim_def_free(&def);
    for (int i = 0; i < h.n; ++i) {
        const ty_status* s = &h.at[i].status;
        bool here = s->line == bad->line && (bad->column == 0 || s->column == bad->column);
        if (here && strstr(s->message, bad->message)) return true;
    }
    char text[LONGEST] = "nothing";
    if (h.n) ty_scene_message_text(&h.at[0], text, sizeof text);
    print_error("expected %d:%d: %s\nbut heard %s\n", bad->line, bad->column, bad->message, text);
    return false;
}

static void every_mistake_is_reported_at_its_place(void** state)
{
    (void)state;
    int64_t before = ty_memory_alive();
    int n_wrong = 0;
    for (size_t i = 0; i < sizeof bad_scenes / sizeof *bad_scenes; ++i)
        n_wrong += !is_reported(&bad_scenes[i]);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(ty_memory_alive(), before);
}

static void all_mistakes_come_at_once_and_in_order(void** state)
{
    (void)state;
    ty_sim_def def;
    heard h;
    ty_status status = read_text(&def, GOOD "cell: x\nbogus: 1\nup: w\nprobes: [{front: x}]\n", 0,
                                 NULL, &h);
    assert_int_equal(status.code, TY_BAD_INPUT);
    assert_string_equal(status.message, "4 mistakes");
    assert_int_equal(h.n, 4);
    for (int i = 0; i < 4; ++i) assert_int_equal(h.at[i].status.line, 7 + i);
}

static void the_line_is_shown_with_a_caret(void** state)
{
    (void)state;
    ty_sim_def def;
    heard h;
    char text[LONGEST];
    read_text(&def, GOOD "cell:  x\n", 0, NULL, &h);
    assert_string_equal(h.at[0].excerpt, "cell:  x\n       ^");
    assert_string_equal(
        ty_scene_message_text(&h.at[0], text, sizeof text),
        "test.yaml:7:8: error: 'cell' must be a number (m), not 'x'\ncell:  x\n       ^");
}

static void overrides_are_checked_like_the_file(void** state)
{
    (void)state;
    ty_sim_def def;
    heard h;
    const char* finer = "resolution=20";    // wins over the file's cell
    assert_ok(read_text(&def, GOOD "cell: 0.2\n", 1, &finer, &h));
    assert_near(def.cell, 0.1, 0.0);
    ty_sim_def_free(&def);
    const char* good[] = {"frames.count=7", "liquid.0.box.max=[1, 1, 1]", "cell=0.1",
                          "walls.top.slip=0", "name=\"a b\""};
    assert_ok(read_text(&def, GOOD, 5, good, &h));
    assert_int_equal(def.frame_count, 7);
    assert_near(def.world.liquids[0].shape.max[1], 1.0, 0.0);
    assert_near(def.cell, 0.1, 0.0);
    assert_near(def.world.wall[TY_TOP].slip, 0.0, 0.0);
    assert_string_equal(def.name, "a b");
    ty_sim_def_free(&def);
    static const char* const bad[][2] = {
        {"frames.count=x", "--set frames.count: 'count' must be a whole number, not 'x'"},
        {"frames.cuont=3",
         "--set frames.cuont: unknown key 'cuont' in 'frames'; did you mean 'count'?"},
        {"liquid.1.box.max=[1,1,1]",
         "--set liquid.1.box.max: '1' is no item of this list; it has 1, counted from 0"},
        {"frames.count.x=3", "--set frames.count.x: there is no 'x' in the value '10'"},
        {"frames", "--set frames: must be key=value"},
        {"=3", "--set : must be key=value"},
        {"frames..count=3", "--set frames..count: not a path of keys"},
        {"cell=[1", "--set cell: "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        assert_code(read_text(&def, GOOD, 1, &bad[i][0], &h), TY_BAD_INPUT);
        if (!strstr(h.at[0].status.message, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], h.at[0].status.message);
    }
}

// Everything that a scene can say, once.
static const char whole_scene[] =
    "name: whole\nup: z\ndomain: {min: [-1, 0, 0.1], max: [1, 2, 3], closed: [left, bottom, "
    "front]}\n"
    "walls: {bottom: {velocity: [\"sin(t)\", 0, 0], slip: 0.5}}\ncell: 0.07\n"
    "frames: {count: 3, rate: 30, start: 1001, cfl: 1.5}\n"
    "solver: {kind: prescribed, velocity: [\"-y\", \"x > 0 ? 1 : -1\", 0.1]}\n"
    "surface: {tracker: levelset, ratio: 2, transport: weno5, redistance: 0.5, volume: {correct: "
    "false}}\n"
    "liquid:\n  - formula: \"z - 0.5 - 0.01*cos(pi*x)\"\n    velocity: [{time: 0, value: [0, 0, "
    "0]}, {time: 1, value: [1, 0, 0]}]\n"
    "  - difference: [{sphere: {center: [0, 1, 1], radius: 0.3}}, {box: {min: [0, 0, 0], max: [1, "
    "1, 1]}}]\n"
    "obstacles:\n  - capsule: {from: [0, 0, 0], to: [1, 1, 1], radius: 0.1}\n    slip: 0.25\n    "
    "velocity: [1, 0, 0]\n"
    "    motion: [{time: 0}, {time: 2, move: [0, 0.5, 0], turn: {axis: [0, 0, 1], degrees: 90, "
    "about: [1, 0, 0]}, scale: 2}]\n"
    "    ease: linear\n  - torus: {center: [0, 1, 1], radius: 0.4, tube: 0.1}\n    invert: true\n"
    "sources:\n  - cylinder: {from: [0, 0, 1], to: [0, 0, 2], radius: 0.1}\n    rate: \"0.1*t\"\n  "
    "  active: [0, 2.5]\n"
    "drains:\n  - intersection: [{plane: {}}, {union: [{plane: {point: [0, 0, 1]}}]}]\n"
    "forces:\n  - gravity: [0, 0, \"-9.81*cos(t)\"]\n  - point: {center: [0, 0, 0], strength: -1, "
    "radius: 2}\n"
    "  - vortex: {center: [0, 0, 0]}\n    inside: {sphere: {center: [0, 0, 0], radius: 1}}\n"
    "  - wind: {velocity: [1, \"y\", 0]}\n    active: [1, 2]\n  - turbulence: {scale: 0.3}\n"
    "  - spline: {points: [[0, 0.5, 0.5], [1, 0.8, 0.5]], radius: 0.2, strength: 3}\n  - field: "
    "[\"-y\", \"x\", 0]\n"
    "steer:\n  - plane: {}\n    velocity: [0, 0, 1]\n    blend: {keys: [{time: 0, value: 0}, "
    "{time: 1, value: 0.4}], ease: linear}\n"
    "cameras:\n  - {name: main, eye: [3, \"t\", 3], target: [1, 0.4, 0.5], fov: 33}\n"
    "probes:\n  - {name: h1, height: [0.5, 1.5]}\n  - {name: v, velocity: [1, 0.05, 0.5]}\n  - "
    "{name: f, front: y}\n"
    "checkpoint: {every: 5, keep: 0}\noutput: {surface: none, volume: none, every: 3}\n";

static void the_filled_in_scene_reads_back_the_same(void** state)
{
    (void)state;
    ty_sim_def a, b;
    heard h;
    assert_ok(read_text(&a, whole_scene, 0, NULL, &h));
    assert_int_equal(h.n, 0);
    assert_ok(read_text(&b, a.scene_text, 0, NULL, &h));
    assert_int_equal(h.n, 0);
    assert_string_equal(a.scene_text, b.scene_text);
    assert_true(a.scene_hash == b.scene_hash);
    assert_near(b.track.cell, 0.035, 0.0);
    assert_int_equal(b.world.n_forces, 6);
    assert_int_equal(b.world.gravity.kind, TY_VARY_EXPRESSION);
    assert_int_equal(b.world.obstacles[0].shape.n_keys, 2);
    assert_near(b.world.obstacles[0].shape.keys[1].scale, 2.0, 0.0);
    assert_true(b.world.obstacles[0].has_velocity && !b.world.obstacles[1].has_velocity);
    assert_true(b.world.sources[0].has_rate);
    assert_string_equal(b.solve.kind, "prescribed");
    ty_sim_def_free(&a);
    ty_sim_def_free(&b);
}

static void up_z_turns_sides_gravity_and_gauges(void** state)
{
    (void)state;
    ty_sim_def def;
    heard h;
    const char* z_up[] = {"up=z", "domain.closed=[bottom, front]",
                          "probes=[{name: h, height: [3, 4]}]"};
    assert_ok(read_text(&def, GOOD, 3, z_up, &h));
    for (int side = 0; side < TY_N_SIDES; ++side)    // bottom is least z, front is least y
        assert_int_equal(def.world.wall[side].closed, side == TY_BACK || side == TY_BOTTOM);
    assert_near(def.world.gravity.constant[2], -9.81, 0.0);
    assert_near(def.world.gravity.constant[1], 0.0, 0.0);
    assert_near(def.probes[0].at[1], 4.0, 0.0);
    assert_int_equal(def.world.up, 2);
    ty_sim_def_free(&def);
    assert_ok(read_text(&def, GOOD, 2, z_up + 1, &h));
    for (int side = 0; side < TY_N_SIDES; ++side)
        assert_int_equal(def.world.wall[side].closed, side == TY_FRONT || side == TY_BOTTOM);
    assert_near(def.world.gravity.constant[1], -9.81, 0.0);
    assert_near(def.probes[0].at[2], 4.0, 0.0);
    ty_sim_def_free(&def);
}

static uint64_t hash_with(const char* set)
{
    ty_sim_def def;
    heard h;
    assert_ok(read_text(&def, whole_scene, set ? 1 : 0, &set, &h));
    uint64_t hash = def.scene_hash;
    ty_sim_def_free(&def);
    return hash;
}

static void the_hash_knows_what_matters(void** state)
{
    (void)state;
    uint64_t hash = hash_with(NULL);
    const char* const same[] = {"frames.count=99", "name=other", "output.every=7",
                                "checkpoint.every=1", "cameras=[]"};
    const char* const changed[] = {"cell=0.08",          "liquid.1.difference.0.sphere.radius=0.31",
                                   "frames.rate=24",     "up=y",
                                   "walls.top.slip=0.9", "surface.volume.correct=true",
                                   "forces=[]"};
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i) assert_true(hash_with(same[i]) == hash);
    for (size_t i = 0; i < sizeof changed / sizeof *changed; ++i)
        assert_true(hash_with(changed[i]) != hash);
}

static void files_are_found_beside_the_scene_and_hashed(void** state)
{
    (void)state;
    char folder[] = "/tmp/tethys_scene_XXXXXX", path[200], text[600];
    assert_non_null(mkdtemp(folder));
    const char* const names[] = {"b.0002.obj", "b.0001.obj", "b.01.obj", "a.obj"};
    for (int i = 0; i < 4; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_ok(ty_file_write(path, names[i], (int64_t)strlen(names[i])));
    }
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    snprintf(text, sizeof text, "%s%s", GOOD,
             "obstacles:\n  - mesh: {file: b.####.obj}\n  - mesh: {file: a.obj}\n  - mesh: {file: "
             "a.obj}\n");
    assert_ok(ty_file_write(path, text, (int64_t)strlen(text)));
    ty_sim_def def, again;
    assert_ok(ty_scene_read(&def, path, 0, NULL, NULL, NULL));
    assert_int_equal(def.n_inputs, 3);
    assert_non_null(strstr(def.inputs[0].path, "b.0001.obj"));
    assert_non_null(strstr(def.inputs[1].path, "b.0002.obj"));
    assert_true(def.inputs[0].hash != def.inputs[1].hash);
    assert_ok(ty_scene_read_text(&again, "elsewhere/x.yaml", def.scene_text,
                                 (int64_t)strlen(def.scene_text), 0, NULL, NULL, NULL));
    assert_true(def.scene_hash == again.scene_hash);
    assert_string_equal(def.inputs[2].path, again.inputs[2].path);
    ty_sim_def_free(&def);
    ty_sim_def_free(&again);
    for (int i = 0; i < 4; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    remove(path);
    remove(folder);
    assert_code(ty_scene_read(&def, path, 0, NULL, NULL, NULL), TY_BAD_INPUT);
}

static void out_of_memory_anywhere_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    int64_t before = ty_memory_alive();
    int64_t k = 1;
    for (; k < 100000; ++k) {
        ty_sim_def def;
        heard h;
        const char* set[] = {"frames.count=7", "solver.tolerance=1e-5"};
        ty_memory_fail_after(k);
        ty_status status = read_text(&def, whole_scene, 2, set, &h);
        ty_memory_fail_after(0);
        if (status.code == TY_OK) {
            ty_sim_def_free(&def);
            break;
        }
        assert_int_equal(status.code, TY_NO_MEMORY);
        assert_int_equal(ty_memory_alive(), before);
    }
    assert_true(k > 50 && k < 100000);
    assert_int_equal(ty_memory_alive(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_reported_at_its_place),
        cmocka_unit_test(all_mistakes_come_at_once_and_in_order),
        cmocka_unit_test(the_line_is_shown_with_a_caret),
        cmocka_unit_test(overrides_are_checked_like_the_file),
        cmocka_unit_test(the_filled_in_scene_reads_back_the_same),
        cmocka_unit_test(up_z_turns_sides_gravity_and_gauges),
        cmocka_unit_test(the_hash_knows_what_matters),
        cmocka_unit_test(files_are_found_beside_the_scene_and_hashed),
        cmocka_unit_test(out_of_memory_anywhere_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
