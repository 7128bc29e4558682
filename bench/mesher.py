#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Remakes validation/mesher: tethys mesh against TetGen and Gmsh on the same surfaces.

usage: bench/mesher.py [--tethys PROGRAM] [--resolution N]

Needs nothing but Python; TetGen and Gmsh are left out of the table when they are not installed. Seconds are those
the processor worked on the whole command, files included, so that other work on the machine does not count.
"""
import argparse
import json
import math
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "validation", "mesher")
SHAPES = {"sphere": 4 / 3 * math.pi * 0.5**3, "torus": 2 * math.pi**2 * 0.35 * 0.15**2, "box": 0.48,
          "cylinder": math.pi * 0.3**2}


def work(command, cwd):
    """Runs a command; seconds of processor time and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, done.returncode, done.stdout


def read_ply(path):
    """Vertices and triangles of a binary PLY of tethys."""
    with open(path, "rb") as f:
        n_verts = n_tris = 0
        while True:
            line = f.readline().decode().split()
            if line[:2] == ["element", "vertex"]:
                n_verts = int(line[2])
            if line[:2] == ["element", "face"]:
                n_tris = int(line[2])
            if line == ["end_header"]:
                break
        verts = [struct.unpack("<3f", f.read(12)) for _ in range(n_verts)]
        tris = [struct.unpack("<B3i", f.read(13))[1:] for _ in range(n_tris)]
    return verts, tris


def write_off(path, verts, tris):
    with open(path, "w") as f:
        f.write(f"OFF\n{len(verts)} {len(tris)} 0\n")
        f.writelines("%.9g %.9g %.9g\n" % v for v in verts)
        f.writelines("3 %d %d %d\n" % t for t in tris)


def write_stl(path, verts, tris):
    with open(path, "wb") as f:
        f.write(b" " * 80 + struct.pack("<I", len(tris)))
        for t in tris:
            f.write(struct.pack("<3f", 0, 0, 0) + b"".join(struct.pack("<3f", *verts[v]) for v in t) + b"\0\0")


def read_tetgen(stem):
    with open(stem + ".node") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    first = int(rows[1][0])
    verts = [tuple(map(float, r[1:4])) for r in rows[1:]]
    with open(stem + ".ele") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return verts, [tuple(int(v) - first for v in r[1:5]) for r in rows[1:]]


def read_medit(path):
    with open(path) as f:
        words = f.read().split()
    at = words.index("Vertices")
    n = int(words[at + 1])
    verts = [tuple(map(float, words[at + 2 + 4 * i:at + 5 + 4 * i])) for i in range(n)]
    at = words.index("Tetrahedra")
    n = int(words[at + 1])
    return verts, [tuple(int(v) - 1 for v in words[at + 2 + 5 * i:at + 6 + 5 * i]) for i in range(n)]


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def measure(verts, tets):
    """Histogram per 5 degrees, extremes and volume."""
    histogram, least, most, volume = [0] * 36, 180.0, 0.0, 0.0
    for tet in tets:
        o, a, b, c = (verts[v] for v in tet)
        a, b, c = minus(a, o), minus(b, o), minus(c, o)
        normals = [cross(minus(b, a), minus(c, a)), cross(c, b), cross(a, c), cross(b, a)]
        sizes = [math.sqrt(dot(n, n)) or 1e-300 for n in normals]
        volume += abs(dot(a, normals[1])) / 6
        for i in range(4):
            for j in range(i):
                cosine = -dot(normals[i], normals[j]) / (sizes[i] * sizes[j])
                angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
                least, most = min(least, angle), max(most, angle)
                histogram[min(35, int(angle / 5))] += 1
    return {"tets": len(tets), "min_dihedral": least, "max_dihedral": most, "volume": volume, "histogram": histogram}


def run_tethys(program, shape, resolution, folder, uniform):
    command = [program, "mesh", "--shape", shape, "--resolution", str(resolution), "--threads", "1", "-o", "out.mesh"]
    seconds, code, text = work(command + (["--uniform"] if uniform else ["--grade"]), folder)
    if code:
        sys.exit(text)
    verts, tets = read_medit(os.path.join(folder, "out.mesh"))
    return measure(verts, tets) | {"seconds": seconds}


def run_tetgen(folder, cell):
    # Facets, quality (radius-edge ratio 2, TetGen's default), no tet larger than a regular one with this edge times 3.
    volume = 27 * cell**3 * math.sqrt(2) / 12
    seconds, code, text = work(["tetgen", f"-pqa{volume:.9f}Q", "surface.off"], folder)
    if code:
        return {"failed": text.strip().splitlines()[-1] if text.strip() else f"code {code}", "seconds": seconds}
    return measure(*read_tetgen(os.path.join(folder, "surface.1"))) | {"seconds": seconds}


def run_gmsh(folder, cell):
    with open(os.path.join(folder, "surface.geo"), "w") as f:
        f.write('Merge "surface.stl";\nSurface Loop(1) = {1};\nVolume(1) = {1};\n'
                f"Mesh.MeshSizeMax = {3 * cell};\nMesh.Optimize = 1;\n")
    command = ["gmsh", "-3", "surface.geo", "-o", "gmsh.mesh", "-format", "mesh", "-nt", "1", "-v", "1"]
    seconds, code, text = work(command, folder)
    if code or not os.path.exists(os.path.join(folder, "gmsh.mesh")):
        return {"failed": text.strip().splitlines()[-1] if text.strip() else f"code {code}", "seconds": seconds}
    return measure(*read_medit(os.path.join(folder, "gmsh.mesh"))) | {"seconds": seconds}


COLOURS = {"Tethys, graded": "#1f6fb2", "Tethys, uniform": "#62a8dd", "TetGen": "#d2691e", "Gmsh": "#3a8f4d"}


def plot(path, title, results):
    """Shares of angles per 5 degrees, one line per program."""
    width, height, left, bottom = 720, 360, 56, 40
    most = max(max(r["histogram"]) / sum(r["histogram"]) for r in results.values())
    x = lambda i: left + i * (width - left - 12) / 36
    y = lambda v: height - bottom - v / most * (height - bottom - 34)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           f'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="20" font-size="14">{title}</text>']
    for low, high in ((0, 10.7), (164.8, 180)):
        out.append(f'<rect x="{x(low / 5):.1f}" y="{y(most):.1f}" width="{x(high / 5) - x(low / 5):.1f}" '
                   f'height="{y(0) - y(most):.1f}" fill="#f4d6d6"/>')
    for degrees in range(0, 181, 30):
        out.append(f'<text x="{x(degrees / 5):.1f}" y="{height - bottom + 16}" text-anchor="middle">{degrees}</text>')
    out.append(f'<text x="{(left + width) / 2}" y="{height - 6}" text-anchor="middle">dihedral angle, degrees</text>')
    for k in range(0, 5):
        share = most * k / 4
        out.append(f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>')
        out.append(f'<line x1="{left}" x2="{width - 12}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>')
    for k, (name, r) in enumerate(results.items()):
        total = sum(r["histogram"])
        steps = " ".join(f"{x(i):.1f},{y(v / total):.1f} {x(i + 1):.1f},{y(v / total):.1f}"
                         for i, v in enumerate(r["histogram"]))
        out.append(f'<polyline points="{steps}" fill="none" stroke="{COLOURS[name]}" stroke-width="1.6"/>')
        out.append(f'<rect x="{width - 150}" y="{40 + 18 * k}" width="12" height="4" fill="{COLOURS[name]}"/>'
                   f'<text x="{width - 132}" y="{46 + 18 * k}">{name}</text>')
    with open(path, "w") as f:
        f.write("\n".join(out + ["</svg>\n"]))


def row(shape, name, r):
    if "failed" in r:
        return f"| {shape} | {name} | failed: {r['failed']} | | | | {r['seconds']:.2f} | |\n"
    error = 100 * (r["volume"] / SHAPES[shape] - 1)
    return (f"| {shape} | {name} | {r['tets']} | {r['min_dihedral']:.2f} | {r['max_dihedral']:.2f} | {error:+.2f} % | "
            f"{r['seconds']:.2f} | {1e-3 * r['tets'] / max(r['seconds'], 1e-9):.0f} |\n")


def convergence(program, folder):
    lines = []
    for resolution in (16, 32, 64):
        seconds, code, text = work([program, "mesh", "--shape", "sphere", "--resolution", str(resolution), "--json"], folder)
        if code:
            sys.exit(text)
        r = json.loads(text)
        error = r["volume"] / SHAPES["sphere"] - 1
        ratio = f"{lines[-1][1] / error:.2f}" if lines else ""
        lines.append((f"| {resolution} | {r['tets']} | {r['min_dihedral']:.2f} .. {r['max_dihedral']:.2f} | "
                      f"{100 * error:.4f} % | {ratio} | {100 * r['lattice_share']:.0f} % | {r['bytes_per_tet']:.0f} |\n", error))
    return "".join(line for line, _ in lines)


def compare(program, resolution):
    table, plots = [], []
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            cell = 1.0 / resolution
            results = {"Tethys, graded": run_tethys(program, shape, resolution, folder, False),
                       "Tethys, uniform": run_tethys(program, shape, resolution, folder, True)}
            work([program, "mesh", "--shape", shape, "--resolution", str(resolution), "--stages", "stages"], folder)
            surface = read_ply(os.path.join(folder, "stages", "5-boundary.ply"))
            write_off(os.path.join(folder, "surface.off"), *surface)
            write_stl(os.path.join(folder, "surface.stl"), *surface)
            if shutil.which("tetgen"):
                results["TetGen"] = run_tetgen(folder, cell)
            if shutil.which("gmsh"):
                results["Gmsh"] = run_gmsh(folder, cell)
        table += [row(shape, name, r) for name, r in results.items()]
        plot(os.path.join(PAGE, f"{shape}.svg"), f"{shape}, {resolution} cells",
             {name: r for name, r in results.items() if "failed" not in r})
        plots.append(f"![angles of the {shape}]({shape}.svg)\n")
    return "".join(table), "\n".join(plots)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tethys", default=os.path.join(ROOT, "build", "tethys"))
    parser.add_argument("--resolution", type=int, default=24)
    options = parser.parse_args()
    os.makedirs(PAGE, exist_ok=True)
    program = os.path.abspath(options.tethys)
    table, plots = compare(program, options.resolution)
    with tempfile.TemporaryDirectory() as folder:
        orders = convergence(program, folder)
    with open(os.path.join(ROOT, "bench", "mesher.md.in")) as f:
        text = f.read()
    for key, value in (("TABLE", table), ("PLOTS", plots), ("ORDERS", orders), ("RESOLUTION", str(options.resolution))):
        text = text.replace(f"@{key}@", value)
    with open(os.path.join(PAGE, "README.md"), "w") as f:
        f.write(text)


if __name__ == "__main__":
    main()
