# SPDX-License-Identifier: Apache-2.0
"""F17: half-axes and energy of a free patch (2D) and a free ellipsoid (3D)."""
from harness import interpolate, reference

SOLVERS = ("grid", "tet")


def follow(case, name, scene, settings, cell, ref, names, plot):
    t_ref, a_ref, b_ref = (ref[n] for n in names)
    r = case.run(name, scene, settings, cell, free_area=lambda i, s: 0.5 * s["area"][i])
    t = r.probes["time"]
    end = max(k for k in range(len(t_ref)) if b_ref[k] <= 2.02)
    axes = [interpolate(t, r.probes[p], t_ref[end]) for p in ("a", "b")]
    errors = [axes[0] / a_ref[end] - 1, axes[1] / b_ref[end] - 1]
    ke = r.stats["kinetic_energy"]
    loss = ke[-1] / ke[0] - 1
    plot.line(f"{case.solver}, {name}, short", t, r.probes["a"])
    plot.line(f"{case.solver}, {name}, long", t, r.probes["b"])
    plot.dots(f"exact, {name}", list(t_ref[:end + 1]) * 2, list(a_ref[:end + 1]) + list(b_ref[:end + 1]))
    case.measure(f"{name}: long axis where it is 2R", errors[1], 0.005, 0.03, "%")
    case.measure(f"{name}: short axis", errors[0], 0.005, 0.03, "%")
    case.measure(f"{name}: kinetic energy", loss, 0.01, 0.10, "%")


def run(case):
    n2, n3 = (32, 16) if not case.quick else (16, 8) if case.solver == "grid" else (16, 12)
    plot = case.plot("axes", "Half-axes of a free patch and a free ellipsoid", "time, s", "half-axis / R")
    h = 1.0 / n2
    follow(case, f"patch, {n2} cells per R", "patch.yaml", {"cell": h, "domain.size": [2.5, 5, 2 * h]}, h,
           reference("free_patch_2d"), ("A0_t", "a_over_R", "b_over_R"), plot)
    follow(case, f"ellipsoid, {n3} cells per R", "ellipsoid.yaml", {"cell": 1.0 / n3}, 1.0 / n3,
           reference("free_ellipsoid_3d_axisymmetric"), ("t", "ax", "az"), plot)
