# SPDX-License-Identifier: Apache-2.0
"""F5: standing capillary wave on a single liquid, with and without viscosity."""
import math
from harness import interpolate, period, read_ply, reference, rms

SOLVERS = ("tet",)
HEIGHT, LENGTH, VISCOSITY = 0.01, 0.5, 0.01
AT_WALL = 1e-6    # m: written coordinates are in single precision


def area(verts, tri):
    a, b, c = (verts[v] for v in tri)
    p, q = ([x[k] - a[k] for k in range(3)] for x in (b, c))
    return 0.5 * math.dist((p[1] * q[2], p[2] * q[0], p[0] * q[1]), (p[2] * q[1], p[0] * q[2], p[1] * q[0]))


def run(case):
    n = 32
    h = 1.0 / n
    depth = 2 * h
    omega = (2 * math.pi) ** 1.5
    ref = reference("prosperetti_single_fluid_capillary")
    plot = case.plot("waves", f"Capillary wave, {n} cells per wavelength", "time, s", "height / first height")

    def surface_energy(i, r):    # sigma is 1; the walls' share of the closed surface is none of the free one
        verts, tris = read_ply(r.frame_path("surface", int(r.stats["frame"][i])))
        walls = [(0, 0.0), (0, LENGTH), (1, 0.0), (2, 0.0), (2, depth)]
        lies_on = [{w for w in walls if abs(v[w[0]] - w[1]) < AT_WALL} for v in verts]
        return sum(area(verts, t) for t in tris if not lies_on[t[0]] & lies_on[t[1]] & lies_on[t[2]])

    for name, viscosity in (("nu = 0.01", VISCOSITY), ("inviscid", 0.0)):
        settings = {"cell": h, "domain.size": [LENGTH, 1.25, depth], "solver.viscosity": viscosity, "output.surface": "ply"}
        if case.quick and not viscosity:
            continue
        if case.quick or not viscosity:
            settings["frames.count"] = 45 if case.quick else 55
        r = case.run(f"{name}, {n} cells", "wave.yaml", settings, h, free_area=lambda i, s: LENGTH * depth,
                     surface_energy=surface_energy)
        t = r.probes["time"]
        eta = [(a - b) / (2 * HEIGHT) for a, b in zip(r.probes["left"], r.probes["right"])]
        plot.line(f"{case.solver}, {name}", t, eta)
        if viscosity:
            pairs = [(s, a) for s, a in zip(ref["t"], ref["a_over_a0"]) if s <= t[-1]]
            plot.dots("Prosperetti, nu = 0.01", [s for s, _ in pairs], [a for _, a in pairs])
            case.measure(f"nu = 0.01, {n} cells per wavelength: RMS against Prosperetti",
                         rms(interpolate(t, eta, s) - a for s, a in pairs), 0.0077, 0.12)
        else:
            case.measure(f"inviscid, {n} cells per wavelength: period", period(t, eta) / (2 * math.pi / omega) - 1, None, None, "%")
            case.note("ripples of two cells gather at the walls and over all of the surface: what the energy rises by is half as much "
                      "again as the wave has.")
            case.measure(f"inviscid, {n} cells per wavelength: height in the last period / first height",
                         max(abs(e) for s, e in zip(t, eta) if s > t[-1] - 2 * math.pi / omega), None, None)
