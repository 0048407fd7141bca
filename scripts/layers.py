#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check that the module's folders depend on each other in one direction only.

An arrow leads from a source file to each header that it includes and to each
file that defines a function or variable that it names. No arrow may lead to a
higher folder, and no circle of files may exist, except those listed below with
their reason. Prints each violation, one a line; with --arrows, all arrows
between folders and their number.
"""
import collections
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
ROOT = os.path.join("net", "sdp")

# Lowest first. A file of the top folder (main.c, netlink*.c) may use all of them.
RANKS = ["proto", "base", "transport", "conn", "zcopy", "socket", "control",
         "policy", "."]

# What policy/ may include of the folders below it, except base/ and proto/.
CORE = "core.h"

# Generated prototypes of the handlers of netlink requests, and limits of attributes. The handlers are
# in control/ and policy/.
HANDLERS = "netlink_gen.h"

# Tables of functions by which a lower folder calls a higher one, which defines them.
UP_CALLS = {
    "sdp_zcopy_ops": "conn/zcopy_ops.h: events of advertised memory",
}

# Arrows that lead up nevertheless: (from, to): reason.
EXCEPTIONS = {}

# Files that call each other in a circle, by the folder that they are in: reason.
CIRCLES = {
    "conn": (14, "a connection that fails stops its timers, and its timers make it fail"),
    "transport": (11, "a link drives its CM exchange and queue pair, which wake the link"),
}


def code_of(path):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'(?<!#include )"(\\.|[^"\\\n])*"', '""', text)


def read_sources():
    sources = {}
    for folder, _, names in os.walk(os.path.join(TOP, ROOT)):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                sources[os.path.relpath(path, os.path.join(TOP, ROOT))] = code_of(path)
    return sources


def end_of_arguments(text, start):
    depth = 1
    while depth and start < len(text):
        depth += (text[start] == "(") - (text[start] == ")")
        start += 1
    return start


def definitions(sources):
    """Which file defines each external function and variable of the module?"""
    found = {}
    function = re.compile(r"^(?!static|extern|typedef|#)[A-Za-z_][\w \t*]*?\b(\w+)\s*\(", re.M)
    variable = re.compile(r"^(?!static|extern|typedef|#)(?:[\w*]+[ \t*]+)+(sdp_\w+)"
                          r"(?:\[\w*\])?(?: __\w+)?\s*(?:=|;)", re.M)
    for path, text in sources.items():
        if not path.endswith(".c"):
            continue
        for match in function.finditer(text):
            if text[end_of_arguments(text, match.end()):].lstrip().startswith("{"):
                found[match.group(1)] = path
        for match in variable.finditer(text):
            found.setdefault(match.group(1), path)
    return found


def inline_bodies(sources):
    """What does each inline function of a header name?"""
    bodies = {}
    pattern = re.compile(r"^static inline[^;{]*?\b(\w+)\s*\([^;{]*\)\s*\{(.*?)^\}", re.M | re.S)
    for path, text in sources.items():
        if path.endswith(".h"):
            for match in pattern.finditer(text):
                bodies[match.group(1)] = set(re.findall(r"\w+", match.group(2)))
    return bodies


def arrows_of(sources):
    """{(from, to): names}; includes are named by "#include"."""
    arrows = collections.defaultdict(set)
    defined, bodies = definitions(sources), inline_bodies(sources)
    for path, text in sources.items():
        for name in re.findall(r'^#include "([^"]+)"', text, re.M):
            to = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if to in sources and to != path:
                arrows[path, to].add("#include")
        if not path.endswith(".c"):
            continue
        words = set(re.findall(r"\b[a-z_]\w+", re.sub(r"\b(struct|enum)\s+\w+", " ", text)))
        for word in list(words):
            words |= bodies.get(word, set())
        for word in words - set(UP_CALLS):
            if defined.get(word, path) != path and not re.search(
                    rf"^static\b[^;]*?\b{word}\s*\(", text, re.M):
                arrows[path, defined[word]].add(word)
    return arrows


def room(path):
    if path == CORE:
        return "socket"
    if path == HANDLERS:
        return "control"
    return path.split("/")[0] if "/" in path else "."


def rank(path):
    return RANKS.index(room(path))


def circles(arrows):
    """Groups of .c files that reach each other (Tarjan)."""
    edges = collections.defaultdict(set)
    for (start, to), names in arrows.items():
        if start.endswith(".c") and to.endswith(".c"):
            edges[start].add(to)
    index, low, stack, groups = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in edges[node]:
            if to not in index:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], index[to])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                groups.append(sorted(group))

    for node in list(edges):
        if node not in index:
            visit(node)
    return groups


def violations(sources, arrows):
    for path in sorted(sources):
        if room(path) not in RANKS:
            yield f"{path}: its folder has no rank in scripts/layers.py"
            return
    for (start, to), names in sorted(arrows.items()):
        if rank(start) < rank(to) and (start, to) not in EXCEPTIONS:
            yield f"{start} leads up to {to}: {', '.join(sorted(names))}"
        if (room(start) == "policy" and "#include" in names and to != CORE and
                room(to) in ("transport", "conn", "zcopy", "socket")):
            yield f"{start} includes {to} beside {CORE}"
    for start, to in EXCEPTIONS:
        if (start, to) not in arrows:
            yield f"{start} does not lead to {to} any more: take it off the list"
    for group in circles(arrows):
        most, _ = CIRCLES.get(room(group[0]), (0, ""))
        if len({room(path) for path in group}) > 1 or len(group) > most:
            yield f"{len(group)} files call each other in a circle: {' '.join(group)}"


def main():
    sources = read_sources()
    arrows = arrows_of(sources)
    if "--arrows" in sys.argv[1:]:
        count = collections.Counter((room(start), room(to)) for start, to in arrows)
        for (start, to), number in sorted(count.items(),
                                          key=lambda item: (RANKS.index(item[0][0]), item[0][1])):
            if start != to:
                print(f"{start:10} -> {to:10} {number:4}")
        return 0
    found = list(violations(sources, arrows))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
