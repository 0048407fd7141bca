#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""coverage.py TOP BUILD OUT: line coverage of the objects in BUILD, from OUT/counts

Counts of several runs are added. A line counts as run when any object that contains it has run
it. Prints a table by source file and fails below the aim. OUT/missed lists the lines that no
run has reached.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys

AIM = 85


def counts_of(note, data, work):
    """Lines of one object as gcov reports them: {(file, line): count}"""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    shutil.copy(note, os.path.join(work, "object.gcno"))
    shutil.copy(data, os.path.join(work, "object.gcda"))
    subprocess.run(["gcov", "--json-format", "object.gcda"], cwd=work, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = {}
    for name in os.listdir(work):
        if not name.endswith(".json.gz"):
            continue
        with gzip.open(os.path.join(work, name)) as text:
            report = json.load(text)
        for file in report["files"]:
            for line in file["lines"]:
                key = file["file"], line["line_number"]
                lines[key] = lines.get(key, 0) + line["count"]
    return lines


def source_name(name, build, top):
    """Path inside the project, or None. The build tree holds links to the sources."""
    path = os.path.realpath(os.path.join(build, name))
    if not path.startswith(os.path.join(top, "net/sdp") + os.sep):
        return None
    return os.path.relpath(path, top)


def collect(top, build, out):
    """{file: {line: count}}, summed over all runs. Objects that no run has loaded are missing
    here."""
    total = {}
    for directory, _, names in os.walk(os.path.join(out, "counts")):
        for name in names:
            at = directory.find(build + os.sep)
            if not name.endswith(".gcda") or at < 0:
                continue
            note = os.path.join(directory[at:], name[:-4] + "gcno")
            lines = counts_of(note, os.path.join(directory, name), os.path.join(out, "work"))
            for (file, line), count in lines.items():
                source = source_name(file, build, top)
                if source:
                    of_file = total.setdefault(source, {})
                    of_file[line] = of_file.get(line, 0) + count
    return total


def main(top, build, out):
    total = collect(top, build, out)
    run = lines = 0
    print("%-40s %6s %6s" % ("file", "lines", "run %"))
    with open(os.path.join(out, "missed"), "w") as missed:
        for file in sorted(total):
            hit = sum(1 for count in total[file].values() if count)
            print("%-40s %6d %6.1f" % (file, len(total[file]), 100 * hit / len(total[file])))
            for line in sorted(line for line, count in total[file].items() if not count):
                missed.write("%s:%d\n" % (file, line))
            run += hit
            lines += len(total[file])
    share = 100 * run / lines if lines else 0
    print("%-40s %6d %6.1f" % ("all", lines, share))
    if share < AIM:
        print("that is less than %d %%" % AIM)
    return share < AIM


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*(os.path.realpath(path) for path in sys.argv[1:])))
