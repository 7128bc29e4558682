# SPDX-License-Identifier: Apache-2.0
"""F5: standing capillary wave on a single liquid, with and without viscosity."""
import math
from harness import interpolate, period, reference, rms

SOLVERS = ("tet",)
HEIGHT, LENGTH, VISCOSITY = 0.01, 0.5, 0.01


def run(case):
    n = 32
    h = 1.0 / n
    depth = 2 * h
    omega = (2 * math.pi) ** 1.5
    ref = reference("prosperetti_single_fluid_capillary")
    plot = case.plot("waves", f"Capillary wave, {n} cells per wavelength", "time, s", "height / first height")

    def surface_energy(i, r):    # sigma is 1; the walls' share of the closed surface is none of the free one
        s, p = r.stats, r.probes
        wetted = sum(interpolate(p["time"], p[side], s["time"][i]) for side in ("left", "right")) * depth
        return s["area"][i] - 2 * s["volume"][i] / depth - LENGTH * depth - wetted

    for name, viscosity in (("nu = 0.01", VISCOSITY), ("inviscid", 0.0)):
        settings = {"cell": h, "domain.size": [LENGTH, 1.25, depth], "solver.viscosity": viscosity}
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
            case.note("the walls' share of the surface is told by the height at one point of each. Their sum varies by 1e-3 m, which "
                      "is 6e-5 J or 2e-3 of the surface's energy, as much as the energy rises without viscosity. Whether ripples at "
                      "the contact lines gain energy is not told apart from that.")
            case.measure(f"inviscid, {n} cells per wavelength: height in the last period / first height",
                         max(abs(e) for s, e in zip(t, eta) if s > t[-1] - 2 * math.pi / omega), None, None)
