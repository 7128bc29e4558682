# SPDX-License-Identifier: Apache-2.0
"""D3: the MARIN dam break: water gauges, first impact on the box, volume."""
from harness import interpolate, reference

SOLVERS = ("grid", "tet")


def run(case):
    cell = 0.08 if case.quick else 0.03 if case.solver == "grid" else 0.05
    frames = 41 if case.quick else 121
    r = case.run(f"cell-{cell}", "marin.yaml", {"cell": cell, "frames.count": frames}, cell,
                 free_area=lambda i, s: max(3.22, 0.5 * s["area"][i]))
    t, end = r.probes["time"], r.probes["time"][-1]
    ref, pressures, peaks = reference("marin_heights"), reference("marin_pressures"), reference("marin_peaks")
    for name, best, passable in (("h_0992", 0.043, 0.10), ("h_2638", 0.021, 0.10)):
        rows = [(s, v) for s, v in zip(ref["t"], ref[name]) if s <= end]
        error = sum(abs(interpolate(t, r.probes[name], s) - v) for s, v in rows) / len(rows) / max(v for _, v in rows)
        case.measure(f"gauge at x = {name[2]}.{name[3:]}, mean error / largest height", error, best,
                     passable if not case.quick else 0.2, "%")
    i = peaks["sensor"].index("P2")
    window = [(s, p) for s, p in zip(t, r.probes["P2"]) if 0.3 <= s <= 1.2]
    top = max(p for _, p in window)
    arrival = next((s for s, p in window if p > 0.25 * peaks["p_max"][i]), float("nan"))
    grades = (0.05, 0.20, 0.035, 0.10) if not case.quick else (None, 0.6, None, 0.25)
    case.measure("P2, first peak (interFoam +1.5 %)", top / peaks["p_max"][i] - 1, *grades[:2], "%")
    case.measure("P2, arrival at a quarter of the peak (interFoam +3.5 %)", arrival / peaks["t_25pct"][i] - 1, *grades[2:], "%")
    s = r.stats
    case.measure("volume (interFoam 0.43 %, REEF3D level set -19 %)",
                 max(abs(v / s["volume"][0] - 1) for v in s["volume"]), 0.0043, 0.02, "%")
    case.measure("the correction's sum / volume", sum(s["correction"]) / s["volume"][0], None, None, "%")
    plot = case.plot("gauges", "MARIN dam break: gauges", "time, s", "height, m")
    for name in ("h_0992", "h_2638"):
        plot.line(f"{case.solver}, x = " + name[2] + "." + name[3:], t, r.probes[name])
        plot.dots("experiment, x = " + name[2] + "." + name[3:], ref["t"][::6], ref[name][::6])
    plot = case.plot("pressures", "MARIN dam break: pressures on the box", "time, s", "pressure, Pa")
    for name in ("P1", "P2"):
        rows = [(a, b) for a, b in zip(t, r.probes[name]) if a < 2]
        plot.line(f"{case.solver}, {name}", *zip(*rows))
        rows = [(a, b) for a, b in zip(pressures["t"], pressures[name]) if a < 2]
        plot.dots("experiment, " + name, *zip(*rows))
