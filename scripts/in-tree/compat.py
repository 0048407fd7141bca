# SPDX-License-Identifier: GPL-2.0
"""Remove include/compat/ from the sources, for a kernel that needs none of it.

unifdef leaves the form of each definition that is for the target kernel. A
macro of one line is another name for an interface of that kernel: its uses are
replaced by its body. What is more than that, and is used, becomes
net/sdp/base/kernel.h.
"""
import os
import re
import subprocess

HEAD = """/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers over interfaces of the kernel.
 */
#ifndef SDP_BASE_KERNEL_H
#define SDP_BASE_KERNEL_H

"""
TAIL = "\n#endif /* SDP_BASE_KERNEL_H */\n"

WIDTH = 80


def unifdef(text, *flags):
    # Its exit status is 1 when it has changed something.
    return subprocess.run(["unifdef", *flags], input=text, capture_output=True, text=True,
                          check=False).stdout


def resolve(header, probe):
    """The compat header as the kernel of @probe (output of scripts/probe.sh) sees it."""
    have = set(re.findall(r"#define (SDP_HAVE_\w+)", probe))
    # "#ifndef NAME" of another name: the newest kernel has it.
    have |= set(re.findall(r"^#ifndef (\w+)", header, re.M)) & set(
        re.findall(r"^#define (\w+)\(", header, re.M))
    lack = set(re.findall(r"\bSDP_HAVE_\w+", header)) - have
    for name in have:
        header = header.replace(f"defined({name}) && ", "")
    return unifdef(header, *(f"-D{name}" for name in have), *(f"-U{name}" for name in lack))


def blocks(text):
    """The pieces of a header: a comment and what follows it up to an empty line."""
    found, piece, depth = [], [], 0
    for line in text.split("\n"):
        if not line.strip() and depth == 0:
            if piece:
                found.append("\n".join(piece))
            piece = []
            continue
        piece.append(line)
        depth += line.count("{") - line.count("}")
        depth += line.startswith("#if") - line.startswith("#endif")
    return found + (["\n".join(piece)] if piece else [])


def names_of(block):
    """The macros and functions that a piece of a header defines."""
    return set(re.findall(r"^#define (\w+)", block, re.M)) | set(
        re.findall(r"^static inline [^(;]*?\b(\w+)\(", block, re.M))


DEFINE = re.compile(r"^#define (\w+)(\([^)]*\))?((?:[^\n]*\\\n)*[^\n]*)\n?", re.M)
TYPEDEF = re.compile(r"^typedef (.*) (\w+);\n?", re.M)


class Compat:
    """What the compat header is for one kernel."""

    def __init__(self, header, probe, linux):
        self.synonyms = {}	# name: (parameters or None, body)
        self.helpers = []	# (names, text)
        self.headers = {}	# header that older kernels lack: functions in it
        text = resolve(header, probe)
        text = text[text.index("#define SDP_COMPAT_H") + len("#define SDP_COMPAT_H"):
                    text.rindex("#endif")]
        guarded = set(re.findall(r"^#if.*\n#include <(.*)>", header, re.M))
        for name in guarded & set(re.findall(r"^#include <(.*)>", text, re.M)):
            with open(os.path.join(linux, "include", name), encoding="utf-8") as source:
                self.headers[name] = set(re.findall(r"^static [^(;]*?\b(\w+)\(",
                                                    source.read(), re.M))
        self.includes = sorted(set(re.findall(r"^#include <(.*)>", text, re.M)) - guarded)
        for block in blocks(re.sub(r"^#include.*\n", "", text, flags=re.M)):
            if "\n#if" not in "\n" + block:
                block = TYPEDEF.sub(self._take_typedef, DEFINE.sub(self._take_define, block))
            if names_of(block):
                self.helpers.append((names_of(block), block.strip("\n")))

    def _take_typedef(self, match):
        self.synonyms[match.group(2)] = (None, match.group(1))
        return ""

    def _take_define(self, match):
        name, parameters, body = match.groups()
        body = re.sub(r"\s*\\\n\s*", " ", body).strip()
        if body.startswith(("do {", "({")) and not body.endswith("while (0)") or "{" in body:
            return match.group(0)
        if parameters is not None:
            parameters = [word.strip() for word in parameters[1:-1].split(",")]
        self.synonyms[name] = (parameters, body)
        return ""

    def header(self, used):
        """base/kernel.h, with the helpers that the words in @used need."""
        kept, more = set(), True
        while more:
            more = {at for at, (names, _) in enumerate(self.helpers) if names & used} - kept
            kept |= more
            for at in more:
                used = used | set(re.findall(r"\w+", self.helpers[at][1]))
        body = "\n\n".join(self.expand(self.helpers[at][1]) for at in sorted(kept))
        includes = "".join(f"#include <{name}>\n" for name in self.includes)
        return HEAD + includes + "\n" + body + "\n" + TAIL

    def strip(self, path, text):
        """A source file without names of the compat header; @path is below net/sdp/."""
        text = self.expand(text)
        words = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)))
        if any(names & words for names, _ in self.helpers):
            up = os.path.relpath("base/kernel.h", os.path.dirname(path) or ".")
            text = add_include(text, f'"{up}"')
        for name, functions in self.headers.items():
            if functions & words:
                text = add_include(text, f"<{name}>")
        return text

    def expand(self, text):
        """@text with each synonym replaced by its body."""
        names = re.compile(r"\b(" + "|".join(self.synonyms) + r")\b")
        before, at = set(text.split("\n")), 0
        while match := names.search(text, at):
            start, end = match.span()
            parameters, body = self.synonyms[match.group(1)]
            if parameters is not None:
                if text[end] != "(":
                    at = end
                    continue
                values, end = arguments(text, end)
                for name, value in zip(parameters, values):
                    body = substitute(body, name, value)
            if text[start - 1] == "@":
                body = re.search(r"\w+$", body).group(0)
            at = start
            if re.fullmatch(r"\([\w.>-]+\)", body):
                body = body[1:-1]
            line = text.rindex("\n", 0, start) + 1
            if text[line:start].strip() == "" and text[end:end + 2] == ";\n" and body[:1] == "(":
                body = body[1:-1]
            if body in ("", "do { } while (0)") and re.fullmatch(r"[;\s\\]*",
                                                                 text[end:text.index("\n", end)]):
                text = text[:line] + text[text.index("\n", end) + 1:]
                continue
            if body == "" and text[end] == " ":
                end += 1
            rest = backslash(text[line:end], text[line:start] + body, text[end:])
            text = text[:start] + body + rest
        return "\n".join(fit(text.split("\n"), before))


def backslash(old, new, rest):
    """@rest of a line whose beginning was @old and is @new: its backslash keeps its column."""
    tabs = re.match(r"\t+(?=\\\n)", rest)
    if not tabs:
        return rest
    column = len((old + tabs.group(0)).expandtabs())
    count = (column - len(new.expandtabs()) + 7) // 8
    return "\t" * max(count, 1) + rest[tabs.end():]


def arguments(text, start):
    """The arguments of a call whose parenthesis is at @start, and where it ends."""
    depth, values, value = 0, [], ""
    for at in range(start, len(text)):
        char = text[at]
        depth += (char == "(") - (char == ")")
        if depth == 0 or depth == 1 and char == ",":
            values.append(re.sub(r"\s*\n\s*", " ", value).strip())
            value = ""
        elif at > start:
            value += char
        if depth == 0:
            return values, at + 1
    raise ValueError("a call that does not end: " + text[start:start + 40])


def substitute(body, name, value):
    plain = re.fullmatch(r"[\w.>-]+", value)
    body = re.sub(rf"(?<!\w)\({name}\)", lambda _: value if plain else f"({value})", body)
    return re.sub(rf"(?<![\w.>]){name}\b", lambda _: value, body)


def fit(lines, before):
    """Break lines that are new and beyond column 80, aligned to the open parenthesis."""
    done, at = [], 0
    while at < len(lines):
        line, at = lines[at], at + 1
        head, rest = (line, None) if line in before else broken(line)
        done.append(head)
        if rest is None:
            continue
        indent = rest[:len(rest) - len(rest.lstrip())]
        if at < len(lines) and lines[at].startswith(indent) and lines[at][len(indent)].isalnum():
            joined = rest + " " + lines[at].lstrip()
            if len(joined.expandtabs()) <= WIDTH:
                rest, at = joined, at + 1
        lines.insert(at, rest)
    return done


def broken(line):
    """@line up to the last comma before column 80, and the rest; or @line and None."""
    if len(line.expandtabs()) <= WIDTH:
        return line, None
    for comma in reversed([match.end() for match in re.finditer(r", ", line)]):
        if len(line[:comma].rstrip().expandtabs()) > WIDTH:
            continue
        opened = []
        for at, char in enumerate(line[:comma]):
            if char == "(":
                opened.append(at)
            elif char == ")" and opened:
                opened.pop()
        if opened:
            column = len(line[:opened[-1] + 1].expandtabs())
            return (line[:comma].rstrip(),
                    "\t" * (column // 8) + " " * (column % 8) + line[comma:])
    return line, None


def add_include(text, name):
    """Include @name: a header of the module first, one of the kernel behind those of its folder."""
    if f"#include {name}" in text:
        return text
    line = f"#include {name}\n"
    own = re.search(r'^#include "', text, re.M)
    if name[0] == '"' and own:
        return text[:own.start()] + line + text[own.start():]
    for pattern in (rf"^#include {name.split('/')[0]}/.*\n", r"^#include <.*\n"):
        found = list(re.finditer(pattern, text, re.M))
        if found:
            space = "\n" if name[0] == '"' else ""
            return text[:found[-1].end()] + space + line + text[found[-1].end():]
    guard = re.search(r"^#define \w+_H\n\n?", text, re.M)
    return text[:guard.end()] + line + "\n" + text[guard.end():]
