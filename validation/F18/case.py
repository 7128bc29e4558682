# SPDX-License-Identifier: Apache-2.0
"""F18: a standing wave that viscosity damps, against linear viscous theory."""
import math
from harness import reference, rms

AMPLITUDE = 0.01


def one(case, n, **more):
    h = 2.0 / n
    settings = {"cell": h, "domain.size": [2, 1.25, 2 * h], **{key.replace("__", "."): v for key, v in more.items()}}
    if case.quick:
        settings["frames.count"] = 81
    name = f"{n}-cells" + "".join("-" + str(v) for v in more.values())
    r = case.run(name, "tank.yaml", settings, h, free_area=lambda i, s: 4 * h)
    return r.probes["time"], [(v - 1) / AMPLITUDE for v in r.probes["h0"]]


def at(t, eta, when):
    i = min(next((k for k, s in enumerate(t) if s > when), len(t) - 1), len(t) - 1)
    share = (when - t[i - 1]) / (t[i] - t[i - 1])
    return eta[i - 1] + share * (eta[i] - eta[i - 1])


def run(case):
    table = reference("viscous_sloshing_re200")
    plot = case.plot("wave", "Viscous sloshing, Reynolds number 200", "time, sqrt(depth / g)", "elevation at x = 0 / initial")
    sizes = (32,) if case.quick else (32, 64)
    for n in sizes:
        t, eta = one(case, n)
        points = [(s, v) for s, v in zip(table["t"], table["eta_rel"]) if s <= t[-1]]
        off = rms(at(t, eta, s) - v for s, v in points)
        fine = n == 64
        case.measure(f"RMS against theory, {n} cells per wavelength", off, 0.01 if fine else None, 0.05 if fine else 0.08, "")
        plot.line(f"{case.solver}, {n} cells", t, eta)
    plot.dots("linear viscous theory (digitised)", [s for s, _ in points], [v for _, v in points])
    if not case.quick:
        t, eta = one(case, 32, solver__viscosity_form="diffusion")
        off = rms(at(t, eta, s) - v for s, v in points)
        case.measure("the same with `viscosity_form: diffusion`, 32 cells", off, None, None, "")
