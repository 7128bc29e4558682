#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables and plots of the multigrid page from the JSON files of `tethys bench amg`. Standard library only."""
import glob
import json
import math
import os
import sys

METHODS = [("default", "#1764ab"), ("paper", "#c0392b"), ("ic", "#7f8c8d"), ("hypre", "#27ae60")]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 460, 320, 62, 46, 26, 96


def load(folder):
    rows = []
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path) as file:
            rows += json.load(file)
    return sorted(rows, key=lambda r: (r["system"], r["unknowns"], r["method"]))


def ticks(low, high):
    return [10.0 ** k for k in range(math.floor(low), math.ceil(high) + 1) if low - 0.01 <= k <= high + 0.01]


def plot(rows, system, title, value, path):
    points = {m: [(r["unknowns"], value(r)) for r in rows if r["system"] == system and r["method"] == m]
              for m, _ in METHODS}
    xs = [math.log10(x) for p in points.values() for x, _ in p]
    ys = [math.log10(y) for p in points.values() for _, y in p]
    x0, x1, y0, y1 = min(xs) - 0.1, max(xs) + 0.1, math.floor(min(ys)), math.ceil(max(ys))

    def place(x, y):
        return (LEFT + (math.log10(x) - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (math.log10(y) - y0) / (y1 - y0) * (HEIGHT - BOTTOM - TOP))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
           f'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="16" font-weight="bold">{title}, {system}</text>']
    for t in ticks(y0, y1):
        x, y = place(10 ** x0, t)
        out.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{t:g}</text>')
    for t in ticks(x0, x1):
        x, y = place(t, 10 ** y0)
        out.append(f'<path d="M{x:.1f} {y:.1f}V{TOP}" stroke="#ddd"/>'
                   f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{t:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">unknowns</text>')
    for method, colour in METHODS:
        at = [place(x, y) for x, y in points[method]]
        if not at:
            continue
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]
        out.append(f'<text x="{at[-1][0] + 8:.1f}" y="{at[-1][1] + 4:.1f}" fill="{colour}">{method}</text>')
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>\n"]))


def table(rows):
    lines = ["| system | unknowns | method | set-up s | solve s | iterations | complexity | MiB |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f'| {r["system"]} | {r["unknowns"]} | {r["method"]} | {r["setup_seconds"]:.3f} | '
                     f'{r["solve_seconds"]:.3f} | {r["iterations"]} | '
                     f'{"" if r["complexity"] is None else format(r["complexity"], ".2f")} | {r["peak_mib"]:.0f} |')
    return "\n".join(lines)


def main():
    folder = sys.argv[1]
    rows = load(folder)
    for system in sorted({r["system"] for r in rows}):
        plot(rows, system, "Seconds, set-up and solve", lambda r: r["setup_seconds"] + r["solve_seconds"],
             os.path.join(folder, f"seconds-{system}.svg"))
        plot(rows, system, "Iterations", lambda r: max(1, r["iterations"]),
             os.path.join(folder, f"iterations-{system}.svg"))
    page = os.path.join(folder, "README.md")
    with open(page) as file:
        text = file.read()
    head, rest = text.split("<!-- table -->\n", 1)
    tail = rest.split("<!-- end -->", 1)[1]
    with open(page, "w") as file:
        file.write(head + "<!-- table -->\n" + table(rows) + "\n<!-- end -->" + tail)


main()
