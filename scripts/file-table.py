#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print Documentation/networking/sdp-files.rst: each file of net/sdp and its role.

The role is the first line of the comment at the top of the file. A header with
a .c file beside it has no line of its own. With --check, compare the document with that, and print what differs.
"""
import difflib
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCUMENT = os.path.join(TOP, "Documentation", "networking", "sdp-files.rst")
ROOMS = {
    ".": "The module",
    "base": "base/: used by all",
    "proto": "proto/: the protocol engine, without any kernel service",
    "transport": "transport/: links, by which messages go",
    "transport/rc": "transport/rc/: links over RDMA queue pairs",
    "conn": "conn/: one connection: its lock, queues, timers and memory",
    "zcopy": "zcopy/: RDMA from and to the application's memory",
    "socket": "socket/: system calls",
    "control": "control/: settings, /proc, netlink",
    "policy": "policy/: TCP sockets of unmodified applications that become SDP sockets",
}
HEAD = """.. SPDX-License-Identifier: GPL-2.0
.. scripts/file-table.py prints this document. Change the comments that it reads, not the text.

===================
Files of the module
===================

The folders stand in the order of calls: a file calls files of its own folder and of those above.
`sdp-architecture.rst <sdp-architecture.rst>`__ tells how they work together.
"""


def role_of(path):
    with open(path, encoding="utf-8") as source:
        lines = source.read().split("\n")
    if len(lines) < 3 or not lines[1].startswith("/*"):
        return None
    first = lines[1][2:].strip() or lines[2].lstrip(" *").strip()
    return first.removesuffix("*/").strip()


def table(folder):
    root = os.path.join(TOP, "net", "sdp", folder)
    rows = []
    for name in sorted(os.listdir(root)):
        if not name.endswith((".c", ".h")):
            continue
        if name.endswith(".h") and os.path.exists(os.path.join(root, name[:-1] + "c")):
            continue
        rows.append((name, role_of(os.path.join(root, name)) or "?"))
    wide = max(len(name) for name, _ in rows)
    bar = "=" * wide + "  " + "=" * max(len(role) for _, role in rows)
    return [bar] + [f"{name:{wide}}  {role}" for name, role in rows] + [bar]


def document():
    lines = HEAD.rstrip("\n").split("\n")
    for folder, title in ROOMS.items():
        lines += ["", title, "=" * len(title), ""] + table(folder)
    return "\n".join(lines) + "\n"


def missing_folders():
    root = os.path.join(TOP, "net", "sdp")
    for folder, _, names in os.walk(root):
        name = os.path.relpath(folder, root)
        if name not in ROOMS and any(re.search(r"\.[ch]$", file) for file in names):
            yield f"net/sdp/{name} has no title in scripts/file-table.py"


def main():
    text = document()
    if "--check" not in sys.argv[1:]:
        print(text, end="")
        return 0
    with open(DOCUMENT, encoding="utf-8") as there:
        found = list(difflib.unified_diff(there.read().split("\n"), text.split("\n"),
                                          "sdp-files.rst", "the files", lineterm="", n=0))
    found += list(missing_folders())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
