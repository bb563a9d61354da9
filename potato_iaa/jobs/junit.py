"""JUnit's XML: a suite for each project, a case for its report and for each of its gates."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence

from potato_iaa.jobs.gates import Gate
from potato_iaa.jobs.outcome import Outcome
from potato_iaa.reporter.safe_text import visible


def junit_bytes(outcomes: Sequence[Outcome], gates: Mapping[str, Sequence[Gate]]) -> bytes:
    """The document; ``gates`` by the names of the projects.

    >>> failed = Outcome("one", "one/config.yaml", error="one: cannot be read.")
    >>> print(junit_bytes([failed], {}).decode())
    <?xml version='1.0' encoding='utf-8'?>
    <testsuites name="potato-iaa" tests="1" failures="0" errors="1">
      <testsuite name="one" tests="1" failures="0" errors="1">
        <testcase classname="one" name="report">
          <error message="one: cannot be read." />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    missed = [gate for of_project in gates.values() for gate in of_project if not gate.passed]
    root = ElementTree.Element(
        "testsuites",
        {
            "name": "potato-iaa",
            "tests": str(len(outcomes) + sum(map(len, gates.values()))),
            "failures": str(len(missed)),
            "errors": str(sum(outcome.error is not None for outcome in outcomes)),
        },
    )
    for outcome in outcomes:
        _suite(root, outcome, gates.get(outcome.name, ()))
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _suite(root: ElementTree.Element, outcome: Outcome, gates: Sequence[Gate]) -> None:
    name = _text(outcome.name)
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": name,
            "tests": str(1 + len(gates)),
            "failures": str(sum(not gate.passed for gate in gates)),
            "errors": str(int(outcome.error is not None)),
        },
    )
    case = ElementTree.SubElement(suite, "testcase", {"classname": name, "name": "report"})
    if outcome.error is not None:
        ElementTree.SubElement(case, "error", {"message": _text(outcome.error)})
    for gate in gates:
        asked = f"{gate.measure} ({gate.on}) at least {gate.at_least:g}"
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {"classname": f"{name}.{_text(gate.scheme)}", "name": _text(asked)},
        )
        if not gate.passed:
            ElementTree.SubElement(case, "failure", {"message": _text(str(gate))})


def _text(text: str) -> str:
    """XML cannot hold control characters, not even as references, nor U+FFFE and U+FFFF."""
    return visible(text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
