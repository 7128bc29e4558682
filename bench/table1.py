#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table 1 of Chentanez et al. 2007 with ours beside it, and Gong's row.

    bench/table1.py [--size preview|medium|paper] [--frames N] [--threads N] [--keep DIR] [--scenes chutes,spray,...]

Runs each scene of scenes/tet and averages its stats.csv over the frames after the first. Seconds are per frame of film;
"steps" is how many steps a frame took. The paper's numbers are averages over whole films at its size; give enough frames
that the liquid is in full motion.
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
GONG = "30 to 120 s a frame in all at 10 to 20 thousand tets"


def resolution(scene, size):
    """The resolution of a size, from the commands at the top of the scene file; None for the file's own."""
    if size == "preview":
        return None
    text = open(f"{root}/scenes/tet/{scene}.yaml").read()
    found = re.findall(r"--set resolution=(\d+)", text)
    return found[0 if size == "medium" else 1]


def run(scene, settings, options, folder):
    command = [f"{root}/build/tethys", "run", f"{root}/scenes/tet/{scene}.yaml", "-o", folder, "--overwrite",
               "--frames", str(options.frames), "--threads", str(options.threads)]
    cells = resolution(scene, options.size)
    for setting in settings + ([f"resolution={cells}"] if cells else []):
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/stats.csv") as f:
        rows = list(csv.DictReader(f))[1:]
    return {key: sum(float(row[key]) for row in rows) / len(rows) for key in rows[0]}


def report(name, theirs, s):
    simulation = s["seconds_advect"] + s["seconds_project"]
    ours = simulation + s["seconds_mesh"] + s["seconds_surface"]
    print(f"{name:16s} {simulation:8.2f} {s['seconds_mesh']:8.2f} {s['seconds_surface']:8.2f} {s['substeps']:6.1f} "
          f"{s['cells'] / 1e6:8.3f} {s['triangles'] / 1e6:8.3f}", end="")
    if theirs:
        total = sum(theirs[:3])
        print(f"   {theirs[0]:4d} {theirs[1]:4d} {theirs[2]:4d} {theirs[3]:5.1f} {theirs[4]:5.1f} {total / ours:9.1f}", end="")
        print(f" {total / ours * (s['cells'] / 1e6) / theirs[3]:11.1f}")
    else:
        print(f"   {GONG}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=["preview", "medium", "paper"], default="medium")
    parser.add_argument("--frames", type=int, default=25)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", help="folder for the results")
    parser.add_argument("--scenes", help="only these, by file name")
    options = parser.parse_args()
    print(f"size {options.size}, {options.frames} frames, {options.threads} thread(s); seconds per frame, millions")
    print("                      ours                                                 paper                        "
          "paper / ours   paper / ours\n"
          "                  simulate     mesh  surface  steps     tets     tris    sim mesh  slc  tets  tris   seconds "
          "seconds/tet")
    with tempfile.TemporaryDirectory() as scratch:
        for name, scene, settings, theirs in ROWS:
            if options.scenes and scene not in options.scenes.split(","):
                continue
            folder = os.path.join(options.keep or scratch, scene + ("-plain" if settings else ""))
            report(name, theirs, run(scene, settings, options, folder))


main()
