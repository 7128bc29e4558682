# SPDX-License-Identifier: Apache-2.0
"""F11: a ball of water falls and is thrown; its centre follows the parabola, it stays round, its volume stays."""
import math
from harness import centroid, read_ply

SOLVERS = ("grid", "tet")
G, RADIUS = 9.81, 0.25


def follow(case, name, start, v0, frames, cell, extra=None):
    r = case.run(name, "ball.yaml", {"cell": cell, "frames.count": frames, "liquid.0.sphere.center": start,
                                     "liquid.0.velocity": v0, **(extra or {})}, cell,
                 free_area=lambda i, s: s["area"][i])
    path = off = roundness = volume_error = 0.0
    rows, first = [], None
    for frame in range(1, frames + 1):
        verts, tris = read_ply(r.frame_path("surface", frame))
        volume, centre = centroid(verts, tris)
        t = r.stats["time"][frame - 1]
        if first is None:
            first, v_first = centre, volume
        exact = [first[0] + v0[0] * t, first[1] + v0[1] * t - 0.5 * G * t * t, first[2] + v0[2] * t]
        path = math.dist(exact, first)
        off = max(off, math.dist(centre, exact))
        radius = [math.dist(v[:3], centre) for v in verts]
        roundness = max(roundness, (max(radius) - min(radius)) / (2 * RADIUS))
        volume_error = max(volume_error, abs(volume / v_first - 1))
        rows.append((t, centre, exact))
    # The path's length, not its chord: by short straight pieces.
    path = sum(math.dist(a[2], b[2]) for a, b in zip(rows, rows[1:]))
    return off / path, volume_error, roundness, rows


def run(case):
    cell = 0.05 if case.quick else 0.025
    plot = case.plot("centre", "Centre of a falling and a thrown ball", "time, s", "height, m")
    worst = [0.0, 0.0, 0.0]
    for name, start, v0, frames in (("falling", [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], 13),
                                    ("thrown", [-0.2, 1.0, 0.0], [1.0, 2.0, 0.0], 11)):
        *values, rows = follow(case, name, start, v0, frames, cell)
        worst = [max(a, b) for a, b in zip(worst, values)]
        plot.dots(f"{case.solver}, {name}", [r[0] for r in rows], [r[1][1] for r in rows])
        plot.line("exact, " + name, [r[0] for r in rows], [r[2][1] for r in rows])
    case.measure("centre off its path, share of the path", worst[0], 1e-4, 5e-3, "%")
    case.measure("volume", worst[1], 1e-4, 1e-2, "%")
    case.measure("not round: range of radii / diameter", worst[2], 1e-3, None if not case.quick else 0.05, "%", counts=False)
    off = follow(case, "falling-uncorrected", [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], 13, cell,
                 {"surface.volume.correct": False})
    case.measure("volume without the correction", off[1], None, None, "%")
