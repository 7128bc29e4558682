#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tracking cases that have no result in DIR yet, draws them, and remakes the table of README.md.

    validation/tracking/make.py build/tethys DIR
"""
import json
import math
import pathlib
import re
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
SIZE = 150    # pixels of one picture
# One row each: name of the result, case, tracker, cells along the box, options (cfl first). A tracker joins by its rows.
RUNS = [
    ("z5l", "zalesak", "levelset", 100, ["cfl=5"]),
    ("z5q", "zalesak", "particle", 100, ["cfl=5"]),
    ("z1q", "zalesak", "particle", 100, ["cfl=1"]),
    ("z5p", "zalesak", "contour", 100, ["cfl=5", "thickening=false"]),
    ("z5t", "zalesak", "contour", 100, ["cfl=5"]),
    ("z1p", "zalesak", "contour", 100, ["cfl=1", "thickening=false"]),
    ("z1t", "zalesak", "contour", 100, ["cfl=1"]),
    ("e5l", "enright", "levelset", 100, ["cfl=5"]),
    ("e5q", "enright", "particle", 100, ["cfl=5"]),
    ("e1q", "enright", "particle", 100, ["cfl=1"]),
    ("e5p", "enright", "contour", 100, ["cfl=5", "thickening=false"]),
    ("e5t", "enright", "contour", 100, ["cfl=5"]),
    ("e1p", "enright", "contour", 100, ["cfl=1", "thickening=false"]),
    ("e1t", "enright", "contour", 100, ["cfl=1"]),
    ("e50p", "enright", "contour", 50, ["cfl=5", "thickening=false"]),
    ("e50t", "enright", "contour", 50, ["cfl=5"]),
]
VIEWS = {"zalesak": (0.0, 0.0), "enright": (0.6, 0.4)}    # turn about y, then about x
BOXES = {"zalesak": ((50, 50, 50), 45), "enright": ((0.5, 0.5, 0.5), 0.5)}


def run(tethys, folder, name, case, tracker, cells, options):
    result = folder / (name + ".json")
    if result.exists() and result.stat().st_size:
        return
    command = [tethys, "track", case, "--tracker", tracker, "--resolution", str(cells), "--threads", "1", "--json",
               "-o", str(folder / name)]
    for option in options:
        command += ["--set", option]
    result.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def read_ply(path):
    """Vertices and triangles of a binary PLY of float vertices without attributes."""
    data = path.read_bytes()
    end = data.index(b"end_header\n") + 11
    header = data[:end].decode()
    n_verts = int(re.search(r"element vertex (\d+)", header)[1])
    n_tris = int(re.search(r"element face (\d+)", header)[1])
    stride = 4 * len(re.findall(r"property float", header))
    verts = [struct.unpack_from("<3f", data, end + i * stride) for i in range(n_verts)]
    at = end + n_verts * stride
    return verts, [struct.unpack_from("<3i", data, at + 13 * i + 1) for i in range(n_tris)]


def turn(view, box, p):
    (cx, cy, cz), reach = box
    x, y, z = (p[0] - cx) / reach, (p[1] - cy) / reach, (p[2] - cz) / reach
    a, b = view
    x, z = math.cos(a) * x + math.sin(a) * z, -math.sin(a) * x + math.cos(a) * z
    y, z = math.cos(b) * y - math.sin(b) * z, math.sin(b) * y + math.cos(b) * z
    return (0.5 + 0.42 * x) * SIZE, (0.5 - 0.42 * y) * SIZE, z


def shade(a, b, c):
    u = [b[i] - a[i] for i in range(3)]
    v = [c[i] - a[i] for i in range(3)]
    u[2] *= 0.42 * SIZE
    v[2] *= 0.42 * SIZE
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    length = math.sqrt(sum(k * k for k in n)) or 1.0
    light = abs((0.4 * n[0] - 0.5 * n[1] - 0.8 * n[2]) / length)
    return min(235, int(60 + 175 * light))


def draw(path, case):
    """Rows of grey values: orthographic, nearest triangle wins."""
    verts, tris = read_ply(path)
    points = [turn(VIEWS[case], BOXES[case], p) for p in verts]
    picture = [bytearray(b"\xff" * SIZE) for _ in range(SIZE)]
    depth = [[-1e9] * SIZE for _ in range(SIZE)]
    for t in tris:
        a, b, c = (points[i] for i in t)
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if area == 0.0:
            continue
        grey = shade(a, b, c)
        x0, x1 = max(0, math.floor(min(a[0], b[0], c[0]))), min(SIZE - 1, math.ceil(max(a[0], b[0], c[0])))
        y0, y1 = max(0, math.floor(min(a[1], b[1], c[1]))), min(SIZE - 1, math.ceil(max(a[1], b[1], c[1])))
        for y in range(y0, y1 + 1):
            for x in range(x0, x1 + 1):
                w1 = ((x - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (y - a[1])) / area
                w2 = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / area
                if w1 < 0 or w2 < 0 or w1 + w2 > 1:
                    continue
                z = a[2] + w1 * (b[2] - a[2]) + w2 * (c[2] - a[2])
                if z > depth[y][x]:
                    depth[y][x], picture[y][x] = z, grey
    return picture


def write_png(path, pictures):
    rows = b"".join(b"\0" + b"".join(bytes(p[y]) for p in pictures) for y in range(SIZE))
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">2I5B", SIZE * len(pictures), SIZE, 8, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) +
                     chunk(b"IEND", b""))


def row(folder, name, case, tracker, cells, options):
    r = json.loads((folder / (name + ".json")).read_text())
    plain = "" if tracker != "contour" else ", plain" if "thickening=false" in options else ", thickening"
    def number(key, form):
        return "-" if r[key] is None else form % r[key]
    return "| %s | %s%s | %d | %s | %d | %s | %s | %s | %s | ![](%s.png) |" % (
        case, tracker, plain, cells, options[0][4:], r["steps"], "%+.1f %%" % (100 * r["volume_error"]),
        "%.1f %%" % (100 * r["symmetric_difference"]), number("area_mid", "%.4g"),
        number("mean_distance", "%.3g"), name)


def main():
    tethys, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["| case | tracker | cells | CFL | steps | volume | symmetric difference | area at half time | mean distance | "
            "start, quarter, half, three quarters, end |", "|" + 10 * "---|"]
    for name, case, tracker, cells, options in RUNS:
        if "--no-run" not in sys.argv:
            run(tethys, folder, name, case, tracker, cells, options)
        elif not (folder / (name + ".json")).exists() or not (folder / (name + ".json")).stat().st_size:
            continue
        surfaces = sorted((folder / name / "surface").glob("*.ply"))
        write_png(HERE / (name + ".png"), [draw(surfaces[i], case) for i in (0, 2, 4, 6, 8)])
        rows.append(row(folder, name, case, tracker, cells, options))
    page = HERE / "README.md"
    text = re.sub(r"(<!-- result -->\n).*(<!-- end of result -->)", lambda m: m[1] + "\n".join(rows) + "\n" + m[2],
                  page.read_text(), flags=re.S)
    page.write_text(text)


main()
