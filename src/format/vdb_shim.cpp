// SPDX-License-Identifier: Apache-2.0
// OpenVDB behind C. No exception leaves this file. Leaf by leaf instead of OpenVDB's copyFromDense:
// the input may be rows made on demand, and no second dense copy exists. A module of its own, see
// vdb_module.h.

// The library hides its symbols, but OpenVDB's templates must be the same objects here and there:
// hidden, the type registry exists twice and openvdb::initialize() crashes.
#pragma GCC visibility push(default)
#include <openvdb/io/Archive.h>
#include <openvdb/openvdb.h>
#pragma GCC visibility pop

#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sstream>
#include <vector>

#include "format/vdb.h"

namespace
{

enum { SIDE = 8 };    // voxels along a leaf

ty_status failure(ty_code code, const char* format, const char* what)
{
    ty_status s;
    std::memset(&s, 0, sizeof s);
    s.code = code;
    std::snprintf(s.message, sizeof s.message, format, what);
    return s;
}

void put(openvdb::FloatGrid::TreeType::LeafNodeType& leaf, openvdb::Index at, const float* v,
         bool active)
{
    leaf.setValueOnly(at, v[0]);
    leaf.setActiveState(at, active);
}
void put(openvdb::Vec3fGrid::TreeType::LeafNodeType& leaf, openvdb::Index at, const float* v,
         bool active)
{
    leaf.setValueOnly(at, openvdb::Vec3f(v[0], v[1], v[2]));
    leaf.setActiveState(at, active);
}
void tile(openvdb::FloatGrid::TreeType& tree, const openvdb::Coord& at, float v)
{
    tree.addTile(1, at, v, false);
}
void tile(openvdb::Vec3fGrid::TreeType&, const openvdb::Coord&, float) {}

// SIDE planes of voxels, padded to whole leaves with background.
struct slab {
    const ty_vdb_grid& g;
    int64_t nx, ny;
    std::vector<float> values, plane;
    bool finite = true;

    explicit slab(const ty_vdb_grid& grid)
        : g(grid), nx((g.n[0] + SIDE - 1) / SIDE * int64_t(SIDE)),
          ny((g.n[1] + SIDE - 1) / SIDE * int64_t(SIDE)), values(size_t(nx * ny * SIDE * g.width)),
          plane(g.values ? 0 : size_t(g.n[0]) * g.n[1] * g.width)
    {
    }
    const float* at(int64_t i, int64_t j, int64_t k) const
    {
        return &values[((k * ny + j) * nx + i) * g.width];
    }

    void copy(const float* in, int64_t sx, int64_t sy, int k)
    {
        for (int j = 0; j < g.n[1]; ++j)
            for (int i = 0; i < g.n[0]; ++i)
                for (int c = 0; c < g.width; ++c) {
                    float v = in[i * sx + j * sy + c];
                    finite = finite && std::isfinite(v);
                    if (g.class_ == TY_VDB_LEVEL_SET)
                        v = std::fmin(std::fmax(v, -g.background), g.background);
                    values[((k * ny + j) * nx + i) * g.width + c] = v;
                }
    }

    void load(int first)
    {
        std::fill(values.begin(), values.end(), g.background);
        int64_t sx = g.width, sy = sx * g.n[0], sz = sy * g.n[1];
        bool strided = g.values && (g.stride[0] || g.stride[1] || g.stride[2]);
        if (strided) sx = g.stride[0], sy = g.stride[1], sz = g.stride[2];
        for (int k = first; k < first + SIDE && k < g.n[2]; ++k) {
            if (!g.values) g.plane(g.self, k, plane.data());
            copy(g.values ? g.values + k * sz : plane.data(), sx, sy, k - first);
        }
    }
};

bool is_active(const ty_vdb_grid& g, const float* v)
{
    if (g.class_ == TY_VDB_LEVEL_SET) return std::fabs(v[0]) < g.background;
    for (int c = 0; c < g.width; ++c)
        if (std::fabs(v[c] - g.background) > g.tolerance) return true;
    return false;
}

template <typename Tree> void add_leaf(Tree& tree, const slab& s, int bi, int bj, int first)
{
    const ty_vdb_grid& g = s.g;
    int n_active = 0, n_inside = 0;
    for (int o = 0; o < SIDE * SIDE * SIDE; ++o) {
        const float* v = s.at(bi + (o >> 6), bj + (o >> 3 & 7), o & 7);
        n_active += is_active(g, v);
        n_inside += g.class_ == TY_VDB_LEVEL_SET && v[0] < 0.0f;
    }
    openvdb::Coord corner(bi, bj, first);
    if (n_active == 0 && n_inside == 0) return;
    if (n_active == 0 && n_inside == SIDE * SIDE * SIDE) return tile(tree, corner, -g.background);
    auto* leaf = tree.touchLeaf(corner);
    float outside[3] = {g.background, g.background, g.background};
    for (int o = 0; o < SIDE * SIDE * SIDE; ++o) {
        const float* v = s.at(bi + (o >> 6), bj + (o >> 3 & 7), o & 7);
        bool active = is_active(g, v);
        put(*leaf, openvdb::Index(o), active || g.class_ == TY_VDB_LEVEL_SET ? v : outside, active);
    }
}

template <typename Grid> openvdb::GridBase::Ptr build(const ty_vdb_grid& g, bool* finite)
{
    auto grid = Grid::create(typename Grid::ValueType(g.background));
    slab s(g);
    for (int first = 0; first < g.n[2]; first += SIDE) {
        s.load(first);
        for (int bj = 0; bj < g.n[1]; bj += SIDE)
            for (int bi = 0; bi < g.n[0]; bi += SIDE) add_leaf(grid->tree(), s, bi, bj, first);
    }
    *finite = s.finite;
    return grid;
}

void describe(openvdb::MetaMap& map, int n_notes, const ty_vdb_note* notes)
{
    for (int i = 0; i < n_notes; ++i)
        if (notes[i].text) map.insertMeta(notes[i].key, openvdb::StringMetadata(notes[i].text));
        else map.insertMeta(notes[i].key, openvdb::DoubleMetadata(notes[i].number));
}

openvdb::GridBase::Ptr convert(const ty_vdb_grid& g, int n_notes, const ty_vdb_note* notes,
                               bool* finite)
{
    openvdb::GridBase::Ptr grid = g.width == 3 ? build<openvdb::Vec3fGrid>(g, finite)
                                               : build<openvdb::FloatGrid>(g, finite);
    auto transform = openvdb::math::Transform::createLinearTransform(g.cell);
    transform->postTranslate(openvdb::Vec3d(g.origin[0], g.origin[1], g.origin[2]) +
                             openvdb::Vec3d(g.offset * g.cell));
    grid->setTransform(transform);
    describe(*grid, n_notes, notes);    // first: the lines below may not be overwritten
    grid->setName(g.name);
    grid->setSaveFloatAsHalf(g.half);
    if (g.class_ == TY_VDB_FOG) grid->setGridClass(openvdb::GRID_FOG_VOLUME);
    if (g.class_ == TY_VDB_LEVEL_SET) grid->setGridClass(openvdb::GRID_LEVEL_SET);
    if (g.width == 3) grid->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    return grid;
}

// OpenVDB's own File writes to a name; this writes the same bytes to memory.
struct memory_archive : openvdb::io::Archive {
    using openvdb::io::Archive::write;
    void save(std::ostream& os, const openvdb::GridCPtrVec& grids,
              const openvdb::MetaMap& map) const
    {
        this->write(os, grids, /*seekable=*/true, map);
    }
};

uint32_t flags_of(ty_vdb_compression c)
{
    uint32_t mask = openvdb::io::COMPRESS_ACTIVE_MASK;
    return c == TY_VDB_BLOSC ? mask | openvdb::io::COMPRESS_BLOSC
           : c == TY_VDB_ZIP ? mask | openvdb::io::COMPRESS_ZIP
                             : mask;
}

}    // namespace

extern "C" __attribute__((visibility("default"))) ty_status
ty_vdb_shim_write(int n_grids, const ty_vdb_grid* grids, int n_notes, const ty_vdb_note* notes,
                  ty_vdb_compression compression,
                  ty_status (*put_bytes)(void* self, char* bytes, int64_t n), void* self)
{
    try {
        static std::once_flag once;
        std::call_once(once, [] { openvdb::initialize(); });
        openvdb::GridCPtrVec list;
        for (int i = 0; i < n_grids; ++i) {
            bool finite = true;
            list.push_back(convert(grids[i], n_notes, notes, &finite));
            if (!finite)
                return failure(TY_DIVERGED, "grid '%s' has a value that is not a finite number",
                               grids[i].name);
        }
        openvdb::MetaMap map;
        describe(map, n_notes, notes);
        memory_archive archive;
        archive.setCompression(flags_of(compression));
        std::ostringstream os(std::ios_base::binary);
        archive.save(os, list, map);
        std::string bytes = os.str();
        return put_bytes(self, &bytes[0], int64_t(bytes.size()));
    } catch (const std::bad_alloc&) {
        return failure(TY_NO_MEMORY, "out of memory for a volume%s; use a larger cell", "");
    } catch (const std::exception& e) {
        return failure(TY_IO, "OpenVDB cannot make the volume: %s", e.what());
    } catch (...) {
        return failure(TY_IO, "OpenVDB cannot make the volume%s", "");
    }
}
