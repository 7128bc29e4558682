#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table 1 of Chentanez et al. 2007 with ours beside it, and Gong's row.

    bench/table1.py [--size preview|medium|paper] [--frames N] [--threads N] [--keep DIR] [--scenes chutes,spray,...]
                    [--set key=value ...]

Runs each scene of scenes/tet and averages its stats.csv over the frames after the first, which only sets up. Seconds are
per frame of film: simulation, meshing, surface; "steps" is how many steps a frame took. The paper's numbers are averages
over whole films at its size; give enough frames that the liquid is in full motion. The last columns are the paper's seconds
over ours, as they are and per tet. The table is Markdown.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)

# name, scene, settings, the paper's seconds for simulation, meshing, surface; million tets, million triangles
PLAIN = ["surface.thickening.surface=false", "surface.thickening.mesh=false"]
ROWS = [
    ("Chutes", "chutes", [], (61, 59, 350, 1.0, 2.1)),
    ("Spray (T)", "spray", [], (37, 53, 169, 0.8, 1.4)),
    ("Spray (NT)", "spray", PLAIN, (40, 54, 176, 0.8, 1.4)),
    ("Angel", "angel", [], (30, 24, 276, 1.0, 1.4)),
    ("Dam Break", "dam-break", [], (49, 42, 196, 1.3, 1.2)),
    ("Gong: dam break", "gong-dam-break", [], None),
]
GONG = "30 to 120 in all, 10 to 20 thousand tets"
HEAD = ["scene", "simulation", "meshing", "surface", "steps", "tets", "triangles", "MiB", "paper: sim., mesh., surf.",
        "its tets, triangles", "paper / ours", "per tet"]


def resolution(scene, size):
    """The resolution of a size, from the commands at the top of the scene file; None for the file's own."""
    if size == "preview":
        return None
    with open(f"{root}/scenes/tet/{scene}.yaml") as f:
        found = re.findall(r"--set resolution=(\d+)", f.read())
    return found[0 if size == "medium" else 1]


def run(scene, settings, options, folder):
    command = [f"{root}/build/tethys", "run", f"{root}/scenes/tet/{scene}.yaml", "-o", folder, "--overwrite", "-q",
               "--frames", str(options.frames), "--threads", str(options.threads)]
    cells = resolution(scene, options.size)
    for setting in settings + options.set + ([f"resolution={cells}"] if cells else []):
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/stats.csv") as f:
        rows = list(csv.DictReader(f))[1:]
    return {key: sum(float(row[key]) for row in rows) / len(rows) for key in rows[0]}


def million(n):
    return f"{n / 1e6:.3f} M"


def cells_of(name, theirs, s):
    simulation = s["seconds_advect"] + s["seconds_project"]
    ours = simulation + s["seconds_mesh"] + s["seconds_surface"]
    row = [name, f"{simulation:.2f}", f"{s['seconds_mesh']:.2f}", f"{s['seconds_surface']:.2f}", f"{s['substeps']:.1f}",
           million(s["cells"]), million(s["triangles"]), f"{s['peak_mib']:.0f}"]
    if not theirs:
        return row + [GONG, "", f"{30 / ours:.1f} to {120 / ours:.1f}", ""]
    total = sum(theirs[:3])
    return row + ["{}, {}, {}".format(*theirs[:3]), f"{theirs[3]} M, {theirs[4]} M", f"{total / ours:.1f}",
                  f"{total / ours * (s['cells'] / 1e6) / theirs[3]:.1f}"]


def line(cells):
    print("| " + " | ".join(cells) + " |")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=["preview", "medium", "paper"], default="preview")
    parser.add_argument("--frames", type=int, default=25, help="2 or more: the first one only sets up")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", help="folder for the results")
    parser.add_argument("--scenes", help="only these, by file name")
    parser.add_argument("--set", action="append", default=[], help="a setting for every scene, as of tethys run")
    options = parser.parse_args()
    if options.frames < 2:
        parser.error("--frames must be 2 or more")
    known = {row[1] for row in ROWS}
    asked = set(options.scenes.split(",")) if options.scenes else known
    if asked - known:
        parser.error(f"no such scene: {', '.join(sorted(asked - known))}; there are {', '.join(sorted(known))}")
    print(f"size {options.size}, {options.frames} frames, {options.threads} thread(s); seconds per frame of film\n")
    line(HEAD)
    line(["---"] * len(HEAD))
    with tempfile.TemporaryDirectory() as scratch:
        for name, scene, settings, theirs in ROWS:
            if scene in asked:
                folder = os.path.join(options.keep or scratch, scene + ("-plain" if settings else ""))
                line(cells_of(name, theirs, run(scene, settings, options, folder)))


main()
