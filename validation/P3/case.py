# SPDX-License-Identifier: Apache-2.0
"""P3: lid-driven cavity against Ghia, Ghia and Shin."""
from harness import reference


def simulate(case, reynolds, n, seconds, cfl):
    u_ref, v_ref = reference("ghia_u_vertical"), reference("ghia_v_horizontal")
    column = f"Re{reynolds}"
    inner = [(0, y, u) for y, u in zip(u_ref["y"], u_ref[column]) if 0 < y < 1]
    inner += [(1, x, v) for x, v in zip(v_ref["x"], v_ref[column]) if 0 < x < 1]
    places = [[0.5, s] if axis == 0 else [s, 0.5] for axis, s, _ in inner]
    text = "[" + ", ".join(f"{{name: p{k}, velocity: [{p[0]}, {p[1]}, {1.0 / n}]}}" for k, p in enumerate(places)) + "]"
    r = case.run(f"Re{reynolds}-{n}", "cavity.yaml",
                 {"cell": 1.0 / n, "domain.size": [1, 1, 2.0 / n], "solver.viscosity": 1.0 / reynolds, "probes": text,
                  "frames.count": seconds + 1, "frames.cfl": cfl}, 1.0 / n, work=lambda i, s: 1e9 * s["time"][i])
    found = [r.probes[f"p{k}.{'xy'[axis]}"][-1] for k, (axis, _, _) in enumerate(inner)]
    before = [r.probes[f"p{k}.{'xy'[axis]}"][-len(r.probes) // 10] for k, (axis, _, _) in enumerate(inner)]
    unsteady = max(abs(a - b) for a, b in zip(found, before))
    return inner, found, max(abs(f - e) for f, (_, _, e) in zip(found, inner)), unsteady


def run(case):
    runs = [(100, 32, 12, 2.0)] if case.quick else [(re, n, seconds, 2.0) for n in (64, 128)
                                                     for re, seconds in ((100, 20), (1000, 60))]
    for reynolds, n, seconds, cfl in runs:
        inner, found, worst, unsteady = simulate(case, reynolds, n, seconds, cfl)
        case.measure(f"Re {reynolds}, {n}^2: largest deviation", worst, 0.01 if n == 128 else None, 0.05)
        case.measure(f"Re {reynolds}, {n}^2: change in the last tenth of the run", unsteady, None, None)
        if n < 128:
            continue
        plot = case.plot(f"re{reynolds}", f"Lid-driven cavity, Re {reynolds}", "place on the middle line", "velocity / lid's")
        for axis, name in ((0, "u on x = 1/2"), (1, "v on y = 1/2")):
            rows = sorted((s, f, e) for f, (a, s, e) in zip(found, inner) if a == axis)
            plot.line(f"{case.solver}, {name}", [r[0] for r in rows], [r[1] for r in rows])
            plot.dots("Ghia, " + name, [r[0] for r in rows], [r[2] for r in rows])
