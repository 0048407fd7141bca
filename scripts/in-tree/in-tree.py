#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make patches that add AF_SDP to a kernel source tree.

	in-tree.py LINUX OUT

LINUX is the source tree of a kernel for which include/compat/ does nothing, as
7.2. It is only read. OUT gets the patches, for `git am`. The files up to the
patch that adds net/sdp/Kconfig are not built; every tree from there on builds.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

import compat

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
HERE = os.path.join(TOP, "scripts", "in-tree")
DOCUMENTS = "Documentation/networking/sdp"

# (file of LINUX, the line that is looked for, what is put in front of it)
HOOKS = {
    "net/Kconfig": ('source "net/smc/Kconfig"\n', 'source "net/sdp/Kconfig"\n'),
    "net/Makefile": ("obj-$(CONFIG_SMC)", "obj-$(CONFIG_AF_SDP)\t\t+= sdp/\n"),
    "Documentation/networking/index.rst": ("   secid\n", "   sdp/index\n"),
    "MAINTAINERS": ("SDRICOH_CS MMC/SD HOST CONTROLLER INTERFACE DRIVER\n", None),
}

# What is about other kernels, or about the programs that these files are also built for:
# (file, text, what it becomes).
EDITS = [
    ("net/sdp/policy/connect.c",
     " &&\n\t    sdp_keep_open(shadow->sock->file)) {\n\t\tfile = shadow->sock->file;\n"
     "\t\tattempt_decide(shadow);\n\t}\n",
     ")\n\t\tattempt_decide(shadow);\n"),
    ("net/sdp/policy/connect.c", "\tif (file)\n\t\tsdp_let_close(file);\n", ""),
    ("net/sdp/policy/connect.c", "\tstruct file *file = NULL;\n\n\tif (!down_write_trylock",
     "\n\tif (!down_write_trylock"),
    ("net/sdp/proto/base.h",
     "outside proto/. So its files compile\n"
     " * unchanged in the kernel, in KUnit and in a user-space program. The engine\n"
     " * knows no socket, verbs, lock or allocator.\n",
     "outside proto/. It knows no socket,\n * verbs, lock or allocator.\n"),
    ("net/sdp/proto/wire.h", "\t/* selftests/unit/search.c: smaller */", ""),
    ("net/sdp/core.h", "\n * (scripts/layers.py checks both)", ""),
    ("net/sdp/tests/test.h",
     " * Test macros for a test_*.c file that is built for user space and for KUnit.\n"
     " *\n"
     " * In user space the file is a program with the kselftest harness. "
     "In the kernel it is a KUnit\n * suite, whose list of cases is made by kunit.sh.\n",
     " * Test macros.\n"),
    ("net/sdp/tests/test.h", "#define TEST_MAIN\n", ""),
]

# Documents about the module's own repository: its tests, its tables, this program.
LEFT_OUT = ["sdp-testing.rst", "sdp-files.rst", "sdp-in-tree.rst"]
FIRST = ["sdp", "sdp-policy", "sdp-programs", "sdp-options", "sdp-sysctl", "sdp-netlink",
         "sdp-security", "sdp-architecture", "sdp-wire", "sdp-flow-control", "sdp-locking",
         "sdp-policy-internals"]
INDEX = """.. SPDX-License-Identifier: GPL-2.0

================================
AF_SDP: Sockets Direct Protocol
================================

AF_SDP is also built outside the kernel tree, from a repository of its own. What these documents
say of tests, tools, scripts and figures (selftests/, tools/, scripts/, include/compat/,
performance.rst, reliability.rst, sdp-testing.rst and others) is there.

.. toctree::
   :maxdepth: 1

"""

FOLDERS = [
    ("proto", "net/sdp: add the protocol engine",
     "Credits, modes, rings, resizes and states of a connection: functions that\n"
     "get events and return actions. They use no socket, verbs or lock."),
    ("base", "net/sdp: add addresses, namespaces, counters and tracepoints",
     "All other folders use these."),
    ("transport", "net/sdp: add the transports",
     "Links over RDMA queue pairs, set up by ib_cm, and links inside one host."),
    ("conn", "net/sdp: add the connection",
     "The socket structure, and what a connection does: queues, ports, active\n"
     "and passive open, timers, memory, waiters."),
    ("zcopy", "net/sdp: add RDMA from and to the application's memory",
     "Large writes and reads, by the messages SrcAvail and SinkAvail."),
    ("socket", "net/sdp: add the system calls",
     "They do what the same calls of TCP do."),
]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as source:
        return source.read()


def below(folder, pattern="**/*.[ch]"):
    """{path: text} of the files of @folder."""
    root = os.path.join(TOP, folder)
    return {os.path.join(folder, os.path.relpath(path, root)): read(path)
            for path in sorted(glob.glob(os.path.join(root, pattern), recursive=True))}


def edited(path, text):
    """@text of the file @path with its EDITS."""
    for name, old, new in EDITS:
        if name == path:
            if old not in text:
                sys.exit(f"error: {path} has not the text that EDITS replaces:\n{old}")
            text = text.replace(old, new)
    return text


class Series:
    """A repository with the files of LINUX that change, and a commit for each patch."""

    def __init__(self, linux, repo):
        self.linux, self.repo = linux, repo
        who = subprocess.run(["git", "-C", TOP, "var", "GIT_COMMITTER_IDENT"], capture_output=True,
                             text=True, check=False).stdout
        found = re.match(r"(.*) <(.*)>", who)
        if not found:
            sys.exit("error: the patches are signed off by you: set git's user.name and user.email")
        self.committer = found.group(0)
        for role in ("AUTHOR", "COMMITTER"):
            os.environ[f"GIT_{role}_NAME"], os.environ[f"GIT_{role}_EMAIL"] = found.groups()
        self.git("init", "-q")
        for path in HOOKS:
            self.write(path, read(linux, path))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("tag", "base")

    def git(self, *words):
        subprocess.run(["git", "-C", self.repo, *words], check=True)

    def write(self, path, text):
        path = os.path.join(self.repo, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as target:
            target.write(text)

    def hook(self, path, added=None):
        before, line = HOOKS[path]
        text = read(self.repo, path)
        if text.count(before) != 1:
            sys.exit(f"error: {path} of {self.linux} has not one line {before.strip()}")
        self.write(path, text.replace(before, (added or line) + before))

    def commit(self, subject, body):
        self.git("add", "-A")
        self.git("commit", "-q", "-s", "-m", subject, "-m", body)


def unused():
    """Files of net/sdp that the module does not use yet: sources that Kbuild does not name, and
    their headers."""
    kbuild, named = read(TOP, "Kbuild").replace("\\\n", " "), set()
    for folder, names in re.findall(r"addprefix (net/sdp/[\w/]*),([^)]*)", kbuild):
        named |= {folder + name for name in re.findall(r"(\w+)\.o", names)}
    named |= set(re.findall(r"(net/sdp/\w[\w/]*)\.o", kbuild))
    stems = {path[:-len(".c")] for path in below("net/sdp", "**/*.c")} - named
    return {stem + end for stem in stems for end in (".c", ".h")}


def sources(linux):
    """{path: text} of net/sdp that the module uses, without include/compat/."""
    include = os.path.join(linux, "include")
    probe = subprocess.run([os.path.join(TOP, "scripts", "probe.sh"), include], check=True,
                           capture_output=True, text=True).stdout
    without = compat.Compat(read(TOP, "include/compat/sdp_compat.h"), probe, linux)
    found, used, left_out = {}, set(), unused()
    for path, text in below("net/sdp").items():
        if path in left_out:
            continue
        text = edited(path, text)
        used |= set(re.findall(r"\w+", text))
        if "__KERNEL__" in text:
            text = compat.unifdef(text, "-D__KERNEL__").replace("\n\n\n", "\n\n")
        text = without.strip(os.path.relpath(path, "net/sdp"), text)
        text = text.replace("scripts/netlink-spec.sh", "tools/net/ynl/ynl-regen.sh")
        found[path] = text.replace("Documentation/networking/sdp-", f"{DOCUMENTS}/sdp-")
    found["net/sdp/base/kernel.h"] = without.header(used)
    return found


def wrapped(start, words):
    """An assignment of make, in lines of at most 80 columns."""
    return textwrap.fill(" ".join(words), 78, initial_indent=start + " ",
                         subsequent_indent="\t  ").replace("\n", " \\\n") + "\n"


def makefile(policy, tests):
    """net/sdp/Makefile, out of Kbuild; @policy and @tests say what exists."""
    kept = []
    for part in re.split(r"\n\n+", read(TOP, "Kbuild").strip("\n")):
        if "SDP_WATCH" in part:
            continue
        part = re.sub(r"^ccflags-y (?:.*\\\n)*.*\n?", "", part, flags=re.M)
        if "SDP_POLICY" in part:
            part = part[part.index("ifneq"):].replace("ifneq ($(SDP_POLICY),n)",
                                                      "ifdef CONFIG_AF_SDP_POLICY")
            if not policy:
                part = "".join(re.findall(r"^else\n(.*)\nendif", part, re.S | re.M))
        kept.append(part.replace("net/sdp/", "").strip("\n"))
    kept[0] = "# SPDX-License-Identifier: GPL-2.0\nobj-$(CONFIG_AF_SDP) += sdp.o"
    if tests:
        engine, rules = [], []
        for path, text in tests.items():
            if path.endswith(".c"):
                names = rules if '"../policy/' in text else engine
                names.append(path[len("net/sdp/"):-1] + "o")
        kept.append(
            "ifdef CONFIG_AF_SDP_KUNIT_TEST\n" + wrapped("suites :=", engine) +
            "ifdef CONFIG_AF_SDP_POLICY\n" + wrapped("suites +=", rules) + "endif\n"
            "sdp-y += $(suites)\n"
            "# Each expectation takes stack, and KASAN adds to it.\n"
            "$(foreach suite,$(suites),$(eval CFLAGS_$(suite) := -Wframe-larger-than=16384))\n"
            "endif")
    return "\n\n".join(part for part in kept if part) + "\n"


def kconfig(count):
    """The first @count entries of net/sdp/Kconfig."""
    head, *entries = re.split(r"(?m)^(?=config )", read(TOP, "net/sdp/Kconfig"))
    return (head + "".join(entries[:count])).rstrip("\n") + "\n"


def included(folder, name):
    """Names of the headers that the file @name of @folder includes, and those of @folder in turn."""
    found, waiting = set(), [name]
    while waiting:
        for header in set(re.findall(r'^#include "(.*)"', read(folder, waiting.pop()), re.M)) - found:
            found.add(header)
            if os.path.exists(os.path.join(folder, header)):
                waiting.append(header)
    return found


def suites():
    """{path: text} of the KUnit suites. A suite lists the TEST()s of its file."""
    unit, found = os.path.join(TOP, "selftests", "unit"), {}
    left_out = {os.path.basename(path) for path in unused()}
    waiting = [name for name in map(os.path.basename, glob.glob(os.path.join(unit, "test_*.c")))
               if not left_out & included(unit, name)]
    while waiting:
        name = waiting.pop()
        text = compat.unifdef(read(unit, name), "-D__KERNEL__").replace("\n\n\n", "\n\n")
        for header in re.findall(r'^#include "(.*)"', text, re.M):
            for folder in ("proto", "policy"):
                if os.path.exists(os.path.join(TOP, "net/sdp", folder, header)):
                    text = text.replace(f'#include "{header}"', f'#include "../{folder}/{header}"')
                    break
            else:
                waiting.append(header)
        subject = name[len("test_"):-len(".c")] if name.endswith(".c") else None
        if subject:
            cases = "".join(f"\tKUNIT_CASE({case}),\n"
                            for case in re.findall(r"^TEST\((\w+)\)", text, re.M))
            text = re.sub(r"^TEST_MAIN\n", (
                f"static struct kunit_case {subject}_cases[] = {{\n{cases}\t{{}}\n}};\n\n"
                f"static struct kunit_suite {subject}_suite = {{\n"
                f'\t.name = "sdp_{subject}",\n\t.test_cases = {subject}_cases,\n}};\n\n'
                f"kunit_test_suite({subject}_suite);\n"), text, flags=re.M)
            name = f"{subject}_kunit.c"
        path = f"net/sdp/tests/{name}"
        found[path] = edited(path, text)
    return dict(sorted(found.items()))


def documents():
    """{path: text}: links among the documents by :doc:, others become their text."""
    texts = {os.path.basename(path): text
             for path, text in below("Documentation/networking", "*.rst").items()
             if os.path.basename(path) not in LEFT_OUT}

    def link(match):
        text, space, target = match.groups()
        return f":doc:`{text}{space}<{target[:-len('.rst')]}>`" if target in texts else text

    found = {f"{DOCUMENTS}/{name}": re.sub(r"`([^`<]+?)(\s*)<([^`>]+\.rst)>`__", link, text)
             for name, text in texts.items()}
    names = FIRST + sorted({name[:-len(".rst")] for name in texts} - set(FIRST))
    found[f"{DOCUMENTS}/index.rst"] = INDEX + "".join(f"   {name}\n" for name in names)
    return found


def make(series, linux):
    texts = sources(linux)
    written = set()

    def add(*prefixes):
        for path, text in texts.items():
            if path not in written and path.startswith(prefixes):
                series.write(path, text)
                written.add(path)

    netlink = below("Documentation/netlink", "**/*.yaml")
    for path, text in {**below("include/uapi"), **netlink}.items():
        series.write(path, text)
    series.commit("uapi: add AF_SDP",
                  "Address family, socket options and the generic netlink family of the\n"
                  "Sockets Direct Protocol.")
    for folder, subject, body in FOLDERS:
        add(f"net/sdp/{folder}/")
        series.commit(subject, body)
    # What the other folders know of policy/ has an empty form for a kernel without it.
    outside = "".join(text for path, text in texts.items() if "/policy/" not in path)
    shared = re.findall(r'^#include "(?:\.\./)*(policy/\w+\.h)"', outside, re.M)
    add("net/sdp/control/", *(f"net/sdp/{path}" for path in shared))
    add(*(path for path in texts if path.count("/") == 2 and path != "net/sdp/core.h"))
    series.write("net/sdp/Makefile", makefile(False, None))
    series.write("net/sdp/Kconfig", kconfig(1))
    series.hook("net/Kconfig")
    series.hook("net/Makefile")
    series.commit("net/sdp: add settings, /proc and netlink, and build the module",
                  "From here on the module is built, and its sockets work.")
    add("net/sdp/policy/", "net/sdp/core.h")
    series.write("net/sdp/Makefile", makefile(True, None))
    series.write("net/sdp/Kconfig", kconfig(2))
    series.commit("net/sdp: add the policy for TCP sockets",
                  "Rules choose TCP sockets of unmodified programs that become sockets of\n"
                  "AF_SDP. The rest of the module does not know the policy, which uses it\n"
                  "by core.h.")
    tests = suites()
    for path, text in tests.items():
        series.write(path, text)
    series.write("net/sdp/tests/.kunitconfig", read(HERE, "kunitconfig"))
    series.write("net/sdp/Makefile", makefile(True, tests))
    series.write("net/sdp/Kconfig", kconfig(3))
    series.commit("net/sdp: add KUnit tests of the engine and of the rules",
                  "They are part of the module and run when it is loaded.")
    for path, text in documents().items():
        series.write(path, text)
    series.hook("Documentation/networking/index.rst")
    series.commit("Documentation: networking: add AF_SDP",
                  "For users, administrators and developers.")
    entry = read(HERE, "MAINTAINERS").replace("@COMMITTER@", series.committer)
    entry = "".join(line for line in entry.splitlines(keepends=True) if not line.startswith("F:")
                    or os.path.exists(os.path.join(series.repo, line[2:].strip())))
    series.hook("MAINTAINERS", entry)
    series.commit("MAINTAINERS: add AF_SDP", "Name who maintains net/sdp.")
    lost = set(texts) - written | {edit[0] for edit in EDITS} - set(texts) - set(tests)
    if lost:
        sys.exit(f"error: not in the series: {lost}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    linux, out = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as repo:
        series = Series(linux, repo)
        make(series, linux)
        shutil.rmtree(out, ignore_errors=True)
        series.git("format-patch", "-q", "-o", out, "base")
    return 0


if __name__ == "__main__":
    sys.exit(main())
