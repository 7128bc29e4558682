# SPDX-License-Identifier: Apache-2.0
"""F16: period of the oscillation in a U-tube."""
import math
from harness import period

SOLVERS = ("grid", "tet")
G, WIDTH, INNER, OUTER, LEG = 9.81, 0.1, 0.1, 0.2, 0.26438    # the axis is 2 LEG + pi 0.15 = 1 m long


def run(case):
    along_axis = 2 * LEG + math.pi * 0.5 * (INNER + OUTER)
    # In a bend the flow keeps to the inside: half a ring acts like a straight piece of length pi w / ln(r2 / r1).
    exact = 2 * LEG + math.pi * WIDTH / math.log(OUTER / INNER)
    period_axis, period_bend = (2 * math.pi * math.sqrt(0.5 * L / G) for L in (along_axis, exact))
    plot = case.plot("levels", "U-tube with legs 0.1 m wide", "time, s", "half the difference of levels, m")
    sizes = (4,) if case.quick else (4, 8, 12) if case.solver == "grid" else (4, 8)    # 12: half an hour
    for n in sizes:
        h = WIDTH / n
        r = case.run(f"{n}-cells-across", "tube.yaml", {"cell": h, "domain.size": [0.5, 0.65, 2 * h]}, h,
                     free_area=lambda i, s: 2 * WIDTH * 2 * h, floor=-1000 * G * OUTER)
        t = r.probes["time"]
        eta = [0.5 * (b - a) for a, b in zip(r.probes["left"], r.probes["right"])]
        plot.line(f"{case.solver}, {n} cells across", t, eta)
        measured = period(t, eta)
    plot.line("theory (bend)", t, [0.02 * math.cos(2 * math.pi * s / period_bend) for s in t], dashed=True)
    case.measure(f"period against theory with the bend's flow, {n} cells across", measured / period_bend - 1, 0.01, 0.04, "%")
    case.measure("period against sqrt(2 g / L) along the axis", measured / period_axis - 1, 0.01, 0.04, "%")
    last = max(abs(e) for s, e in zip(t, eta) if s > t[-1] - period_bend)
    case.measure("amplitude kept in the last period", last / 0.02, None, None, "%")
