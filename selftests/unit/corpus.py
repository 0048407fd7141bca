#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""corpus.py unpack FILE DIRECTORY: write each line of FILE, a hexadecimal input, to a file
corpus.py pack DIRECTORY FILE: the inverse, with the shortest inputs first

The inputs of the fuzzers are kept as text, so that a diff shows which of them have changed.
"""
import hashlib
import os
import sys


def unpack(file, directory):
    os.makedirs(directory, exist_ok=True)
    with open(file) as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            data = bytes.fromhex(line.strip())
            name = hashlib.sha1(data).hexdigest()
            with open(os.path.join(directory, name), "wb") as out:
                out.write(data)


def pack(directory, file):
    inputs = set()
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), "rb") as data:
            inputs.add(data.read())
    with open(file, "w") as out:
        out.write("# SPDX-License-Identifier: GPL-2.0\n")
        for data in sorted(inputs, key=lambda data: (len(data), data)):
            if data:
                out.write(data.hex() + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    (pack if sys.argv[1] == "pack" else unpack)(*sys.argv[2:])
