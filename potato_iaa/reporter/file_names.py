"""Names of files made from names of schemes, which may hold anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNFIT = re.compile(r"[^A-Za-z0-9]+")
LONGEST = 60


def prefixes(schemes: Sequence[str]) -> tuple[str, ...]:
    """What the file names of each scheme begin with: nothing for one, else all different.

    >>> prefixes(["anything"]), prefixes(["Named entities", "../named-entities", "東京"])
    (('',), ('Named-entities_', 'named-entities-2_', 'scheme_'))
    """
    if len(schemes) == 1:
        return ("",)
    taken: set[str] = set()
    named = []
    for scheme in schemes:
        plain = _UNFIT.sub("-", scheme).strip("-")[:LONGEST] or "scheme"
        name, number = plain, 1
        # Some file systems take names that differ in case alone for one.
        while name.casefold() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        named.append(f"{name}_")
    return tuple(named)
