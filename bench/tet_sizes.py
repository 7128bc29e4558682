#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the time of a step and the memory grow with the number of tetrahedra: scenes/tet/dam-break.yaml.

    bench/tet_sizes.py [--resolutions 53,77,...] [--frames N] [--threads 1,2] [--binary build/tethys] [--set key=value ...]

Means over the frames after the first, which only sets up. Seconds are per step, in all and of surface, mesh, advection and
projection; microseconds per tet and step, and over those of the first row; peak memory per tet. With several numbers of
threads the last column is how much faster the last one is than the first. The table is Markdown.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# 50 thousand to 2 million tets
RESOLUTIONS = "53,77,103,150,200,298"
STAGES = ["seconds_surface", "seconds_mesh", "seconds_advect", "seconds_project"]
HEAD = ["cells a side", "tets", "triangles", "s / step", "surface", "mesh", "advect", "project", "us / tet", "ratio",
        "kB / tet", "threads"]


def run(options, resolution, threads, folder):
    """Sums over frames, per step."""
    command = [options.binary, "run", f"{root}/scenes/tet/dam-break.yaml", "-o", folder, "--overwrite", "-q", "--frames",
               str(options.frames), "--threads", threads]
    for setting in [f"resolution={resolution}", "checkpoint.every=0", "output.surface=none"] + options.set:
        command += ["--set", setting]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(f"{folder}/stats.csv") as f:
        rows = list(csv.DictReader(f))[1:]
    steps = sum(int(row["substeps"]) for row in rows)
    found = {key: sum(float(row[key]) for row in rows) / steps for key in STAGES}
    found["seconds"] = sum(found[key] for key in STAGES)
    # A frame's tets are those of its last step: for a mean, each counts as often as it has steps.
    for key in ["cells", "triangles"]:
        found[key] = sum(float(row[key]) * int(row["substeps"]) for row in rows) / steps
    found["memory"] = max(float(row["peak_mib"]) * 1048.576 / float(row["cells"]) for row in rows)
    return found


def line(cells):
    print("| " + " | ".join(cells) + " |")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resolutions", default=RESOLUTIONS)
    parser.add_argument("--frames", type=int, default=3, help="2 or more: the first one only sets up")
    parser.add_argument("--threads", default="1", help="numbers of threads; the table is of the first")
    parser.add_argument("--binary", default=f"{root}/build/tethys")
    parser.add_argument("--set", action="append", default=[], help="a setting, as of tethys run")
    options = parser.parse_args()
    if options.frames < 2:
        parser.error("--frames must be 2 or more")
    threads = options.threads.split(",")
    line(HEAD)
    line(["---"] * len(HEAD))
    first = None
    with tempfile.TemporaryDirectory() as folder:
        for resolution in options.resolutions.split(","):
            s = run(options, resolution, threads[0], folder)
            faster = [s["seconds"] / run(options, resolution, n, folder)["seconds"] for n in threads[1:]]
            each = s["seconds"] / s["cells"] * 1e6
            first = first or each
            line([resolution, f"{s['cells'] / 1e6:.3f} M", f"{s['triangles'] / 1e6:.3f} M", f"{s['seconds']:.3f}"] +
                 [f"{s[key]:.3f}" for key in STAGES] + [f"{each:.2f}", f"{each / first:.2f}", f"{s['memory']:.2f}",
                                                       f"{faster[-1]:.2f} x" if faster else threads[0]])


main()
