#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""netlink-spec.py KERNEL SPEC: print C that compiles if headers and spec agree.

SPEC is a netlink specification, KERNEL a source tree with the library that
reads it. The C code states the number of each operation, attribute and enum
entry of the specification, and the place of each member of its structures.
"""
import sys

sys.path.append(sys.argv[1] + "/tools/net/ynl/pyynl")
from lib import SpecFamily  # noqa: E402

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


def c_name(*parts):
    return "".join(parts).replace("-", "_")


def numbers(family):
    for attrs in family.attr_sets.values():
        for attr in attrs.attrs.values():
            yield c_name(attrs.yaml["name-prefix"], attr.name).upper(), attr.value
    for op in family.msgs.values():
        yield c_name(family.yaml["operations"]["name-prefix"], op.name).upper(), op.value
    for const in family.consts.values():
        if "entries" in const:
            for entry in const.entries.values():
                yield c_name(const["name-prefix"], entry.name).upper(), entry.user_value()
        elif const["type"] == "struct":
            name, at = "struct " + c_name(const["name"]), 0
            for member in const.members:
                yield f"offsetof({name}, {c_name(member.name)})", at
                at += SIZES.get(member.type, member.len)
            yield f"sizeof({name})", at


def main():
    family = SpecFamily(sys.argv[2])
    headers = {const["header"] for const in family.yaml["definitions"] if "header" in const}
    headers |= {"stddef.h", family.yaml["uapi-header"]}
    print("\n".join(f"#include <{header}>" for header in sorted(headers)))
    print("\n".join(f'_Static_assert({what} == {number}, "{what} is {number} in the specification");'
                    for what, number in numbers(family)))


main()
