"""How far do the annotators of a Potato project agree on the spans?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from potato_iaa.version import __version__

if TYPE_CHECKING:
    from potato_iaa.corpus import Corpus
    from potato_iaa.loaders import read_project
    from potato_iaa.measures.agreement import Agreement
    from potato_iaa.measures.chance import AnnotatorAgreementScenario
    from potato_iaa.measures.measuring import measure
    from potato_iaa.reporter.files import write_report

__all__ = [
    "Agreement",
    "AnnotatorAgreementScenario",
    "Corpus",
    "__version__",
    "measure",
    "read_project",
    "write_report",
]

# Imported when first used: the command line answers --help without pandas and scipy.
_HOME = {
    "Agreement": "potato_iaa.measures.agreement",
    "AnnotatorAgreementScenario": "potato_iaa.measures.chance",
    "Corpus": "potato_iaa.corpus",
    "measure": "potato_iaa.measures.measuring",
    "read_project": "potato_iaa.loaders",
    "write_report": "potato_iaa.reporter.files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
