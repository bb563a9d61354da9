"""Measure names: each figure of a scheme as a value whose text parses back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from potato_iaa.errors import UsageError
from potato_iaa.matcher.rules import EXACT, Rule, parse_rule
from potato_iaa.measures.agreement import SchemeAgreement, TokenFigures
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.f1 import F1Figures
from potato_iaa.measures.unitizing import Covered

AVERAGES = {"pairs": "mean_over_pairs", "pooled": "pooled", "items": "mean_over_items"}
TYPINGS = {"yes": "typed", "no": "untyped"}
LOSSES = {
    "existence_loss": ("lost", "existence"),
    "label_loss": ("lost", "label"),
    "boundary_loss": ("lost", "boundary"),
}
_UNITIZING = ("u_alpha", "binary_u_alpha", "cu_alpha")
_KAPPAS = ("cohen", "scott", "fleiss")
_OF_ONE_LABEL = ("k_u_alpha", "gamma_k")
_PLACES = {
    **{
        f"token_{figure}": ("token", figure)
        for figure in (
            "alpha",
            "alpha_bio",
            "alpha_binary",
            "alpha_marked",
            "alpha_io_longest",
        )
    },
    "observed_agreement": ("token", "observed_agreement"),
    "beyond_chance": ("token", "beyond_chance"),
    **{figure: ("token", figure) for figure in _KAPPAS},
    "matched_label_alpha": ("matched_labels", "alpha"),
    **{figure: ("unitizing", figure) for figure in _UNITIZING},
    "k_u_alpha": ("unitizing", "k_u_alpha"),
    **LOSSES,
    "alpha_u": ("unitizing", "alpha_u", "mean_over_items"),
    "gamma": ("gamma", "mean_over_items"),
    "gamma_cat": ("gamma", "gamma_cat"),
    "gamma_k": ("gamma", "gamma_k"),
}
# Which coefficient on request a figure is one of.
_REQUESTS = {
    **dict.fromkeys(("gamma", "gamma_cat", "gamma_k"), "gamma"),
    **{figure: figure for figure in (*_KAPPAS, "alpha_u")},
}
CODINGS = ("label", "io_longest", "bio", "binary")
# Which parameters a name takes beside those of F1.
_PARAMETERS = {
    "F1": ("match", "types", "average", "label"),
    "token_alpha": ("label",),
    "u_alpha": ("label", "flattened"),
    "binary_u_alpha": ("flattened",),
    "cu_alpha": ("flattened",),
    "k_u_alpha": ("label", "flattened"),
    "alpha_u": ("label",),
    "gamma_k": ("label",),
    **dict.fromkeys(_KAPPAS, ("coding",)),
}
NAMES = ("F1", *_PLACES)
_NAME = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_PLAIN_LABEL = re.compile(r"[\w-][\w .-]*(?<! )")


@dataclass(frozen=True, repr=False)
class MeasureName:
    """One figure of a scheme, by the name that gates, summaries and comparisons use.

    ``F1(match=exact,types=yes)``, with ``average=pooled`` or ``items`` (else over pairs) and
    ``label=…`` (else all spans); ``match`` is the text of any match rule. ``token_alpha`` and its
    codings; ``cohen``, ``scott`` and ``fleiss``, with ``coding=bio`` or another; ``u_alpha``,
    ``binary_u_alpha``, ``cu_alpha`` and ``k_u_alpha(label=…)``, with ``flattened=yes`` where spans
    overlap; ``gamma``, ``gamma_cat``, ``gamma_k(label=…)``; the three losses.

    >>> MeasureName.parse("F1( types=no, match=overlap(iou>=0.50) )")
    F1(match=overlap(iou>=0.5),types=no)
    >>> MeasureName.parse("token_alpha(label=PER)").path
    ('token', 'labels', 'PER')
    """

    figure: str = "F1"
    match: Rule = EXACT
    types: bool = True
    average: str = "pairs"
    label: str | None = None
    flattened: bool = False
    coding: str = "label"

    @classmethod
    def parse(cls, text: str) -> MeasureName:
        """The measure that ``text`` names. Raises UsageError, with the names there are."""
        found = _NAME.fullmatch(text)
        if found is None or found[1] not in NAMES:
            near = _near(found[1] if found else text)
            hint = f"did you mean {near!r}? " if near else ""
            raise UsageError(f"no measure {text!r}: {hint}there are {', '.join(NAMES)}.")
        figure = found[1]
        given = dict(_parameters(found[2] or "", text))
        allowed = _PARAMETERS.get(figure, ())
        for key in given:
            if key not in allowed:
                takes = ", ".join(allowed) or "no parameters"
                raise UsageError(f"measure {text!r}: {figure} has no {key!r}, it takes {takes}.")
        if figure in _OF_ONE_LABEL and "label" not in given:
            raise UsageError(f"measure {text!r}: {figure} is that of one label: give label=….")
        return cls(
            figure=figure,
            match=parse_rule(given.get("match", "exact")),
            types=_choice(given.get("types", "yes"), ("yes", "no"), "types", text) == "yes",
            average=_choice(given.get("average", "pairs"), tuple(AVERAGES), "average", text),
            label=_label(given["label"], text) if "label" in given else None,
            flattened=_choice(given.get("flattened", "no"), ("yes", "no"), "flattened", text)
            == "yes",
            coding=_choice(given.get("coding", "label"), CODINGS, "coding", text),
        )

    def __str__(self) -> str:
        parts = []
        if self.figure == "F1":
            parts += [f"match={self.match}", f"types={'yes' if self.types else 'no'}"]
            parts += [f"average={self.average}"] if self.average != "pairs" else []
        parts += [f"coding={self.coding}"] if self.coding != "label" else []
        parts += [f"label={_quoted(self.label)}"] if self.label is not None else []
        parts += ["flattened=yes"] if self.flattened else []
        return f"{self.figure}({','.join(parts)})" if parts else self.figure

    def __repr__(self) -> str:
        return str(self)

    @property
    def rule(self) -> str:
        """The key of this F1 in report.json, such as ``exact_typed``."""
        return f"{self.match}_{TYPINGS['yes' if self.types else 'no']}"

    @property
    def request(self) -> str | None:
        """The coefficient that has to be asked for to have the figure, if one has to be."""
        return _REQUESTS.get(self.figure)

    @property
    def is_loss(self) -> bool:
        """Whether less of it is better."""
        return self.figure in LOSSES

    @property
    def path(self) -> tuple[str, ...]:
        """The place of the figure in report.json's ``schemes.<scheme>``."""
        if self.figure == "F1":
            label = () if self.label is None else ("labels", self.label)
            return ("f1", self.rule, *label, AVERAGES[self.average])
        place = _PLACES[self.figure]
        if self.flattened:
            place = (place[0], "flattened", *place[1:])
        if self.figure in _KAPPAS:
            return (*place, self.coding, *(() if self.figure == "fleiss" else ("mean",)))
        if self.label is None:
            return place
        if self.figure in _OF_ONE_LABEL:
            return (*place, self.label)
        labels = "layers" if self.figure == "u_alpha" else "labels"
        return (*place[:-1], labels, self.label)

    def lookup(self, scheme: SchemeAgreement) -> Estimate:
        """The figure in a measurement; undefined, with the reason, where it was not made."""
        # Only report.json has the coefficient of 1995 among the unitizing ones.
        first = 1 if self.figure == "alpha_u" else 0
        found: Any = scheme
        for depth, step in enumerate(self.path[first:], first):
            found = _step(found, step)
            if found is None:
                return Estimate(None, self._absent(depth))
        return found.alpha if isinstance(found, Covered) else found

    def lookup_in(self, scheme: Mapping[str, Any]) -> Estimate:
        """The figure in report.json's ``schemes.<scheme>``, as ``lookup`` gives it."""
        found: Any = scheme
        for depth, step in enumerate(self.path):
            found = found.get(step)
            if found is None:
                return Estimate(None, self._absent(depth))
        return estimate_of(found)

    def _absent(self, depth: int) -> str:
        """Why a path ends at its step ``depth``."""
        step = self.path[depth]
        if step == self.label:
            return "no such label"
        if step == "flattened":
            return "no overlapping spans, so nothing was flattened"
        if depth == 1 and self.figure == "F1":
            return f"rule {self.match} was not measured"
        return f"{self.figure} was not measured"


HEADLINE = MeasureName()


def estimate_of(figure: Mapping[str, Any]) -> Estimate:
    """The estimate that a figure of report.json stands for.

    >>> estimate_of(Estimate(0.5, low=0.25, high=0.75, undefined=0.0, n=1, of=2).to_dict())
    Estimate(value=0.5, why=None, low=0.25, high=0.75, undefined=0.0, n=1, of=2)
    """
    return Estimate(
        value=figure.get("value"),
        why=figure.get("why"),
        low=figure.get("low"),
        high=figure.get("high"),
        undefined=figure.get("undefined"),
        n=figure.get("n", 0),
        of=figure.get("of", 0),
    )


def _near(word: str) -> str | None:
    names = {name.lower(): name for name in NAMES}
    near = get_close_matches(word.lower(), names, n=1)
    return names[near[0]] if near else None


def _step(found: Any, step: str) -> Any:
    if isinstance(found, Mapping):
        return found.get(step)
    if isinstance(found, F1Figures) and step != "labels":
        return getattr(found.averages, step)
    if isinstance(found, TokenFigures) and step in _KAPPAS:
        return found.kappas.get(step)
    return getattr(found, step)


def _parameters(inside: str, text: str) -> Iterator[tuple[str, str]]:
    seen = set()
    for part in _split(inside, text):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"measure {text!r}: {part.strip()!r} is not of the form key=value.")
        if key.strip() in seen:
            raise UsageError(f"measure {text!r}: {key.strip()!r} stands twice.")
        seen.add(key.strip())
        yield key.strip(), value.strip()


def _split(inside: str, text: str) -> list[str]:
    """The parts between commas that are neither in parentheses nor in quotes."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for character in inside:
        if quoted:
            quoted = character != '"' or escaped
            escaped = character == "\\" and not escaped
        elif character == '"':
            quoted = True
        elif character == "," and not depth:
            parts.append("")
            continue
        depth += 0 if quoted else (character == "(") - (character == ")")
        parts[-1] += character
    if depth or quoted:
        raise UsageError(f"measure {text!r}: a bracket or a quote is not closed.")
    return [part for part in parts if part.strip()]


def _choice(value: str, choices: tuple[str, ...], key: str, text: str) -> str:
    if value not in choices:
        raise UsageError(f"measure {text!r}: {key} is one of {', '.join(choices)}.")
    return value


def _label(value: str, text: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError as fault:
        raise UsageError(f"measure {text!r}: label {value} is not a quoted text.") from fault


def _quoted(label: str | None) -> str:
    text = str(label)
    return text if _PLAIN_LABEL.fullmatch(text) else json.dumps(text, ensure_ascii=False)
