"""The schemes that a Potato configuration declares, and who was shown which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from potato_iaa.corpus import DEFAULT_SCHEME, CategoricalScheme, Scheme
from potato_iaa.loaders.records import StoredSpans
from potato_iaa.loaders.values import mapping, names, number, one_or_many, sequence

# `highlight` is what Potato 1 called a span scheme.
SPAN_KINDS = ("span", "highlight")
AMBIGUOUS_SCHEME = "ambiguous: several schemes have this label, and the file names no scheme"
UNKNOWN_SCHEME = "no scheme has this label, and the file names no scheme"
ANSWER_LABEL = "answer"
# Types whose spans are written as JSON into an answer.
ANSWER_KINDS = ("error_span", "extractive_qa")
CATEGORICAL_KINDS = ("radio", "select", "multiselect", "likert", "slider", "number")


@dataclass(frozen=True)
class DataFile:
    """A file of items, and the encoding that the configuration gives it."""

    path: Path
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Cohort:
    """A group of annotators with a list of schemes of its own (None: the project's list).

    A cohort without ``annotators`` took people in as they came; they are known by their items,
    which are ``items`` and those in ``files``.
    """

    annotators: frozenset[str]
    schemes: frozenset[str] | None
    items: frozenset[str] = frozenset()
    files: tuple[DataFile, ...] = ()


@dataclass(frozen=True)
class InAnswers:
    """A scheme whose spans Potato keeps in an answer, and the item's field that they are on."""

    name: str
    kind: str
    field: str


@dataclass(frozen=True)
class Declared:
    """The declared schemes: ``spans``, ``categorical``, and all of them as ``kinds`` by name.

    ``in_answers`` are those of ``spans`` whose spans are kept in answers.

    ``of_everybody`` are the schemes of the project's own list; ``cohorts`` is empty unless some
    cohort has another list. ``without_labels`` are span schemes whose labels lie in Potato's
    codebook; ``with_bad_text`` are those that offer a choice for "nothing to mark". ``twice`` are
    the names under which more than one scheme is declared, and ``as_written`` the schemes by name
    as they stand in the configuration; of several with one name the first.
    """

    spans: tuple[Scheme, ...] = ()
    categorical: tuple[CategoricalScheme, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    of_everybody: frozenset[str] = frozenset()
    cohorts: tuple[Cohort, ...] = ()
    without_labels: tuple[str, ...] = ()
    with_bad_text: tuple[str, ...] = ()
    in_answers: tuple[InAnswers, ...] = ()
    twice: tuple[str, ...] = ()
    as_written: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict, repr=False)

    @property
    def marked(self) -> tuple[Scheme, ...]:
        """The span schemes whose spans are stored as such."""
        others = {scheme.name for scheme in self.in_answers}
        return tuple(scheme for scheme in self.spans if scheme.name not in others)


def declared_schemes(
    config: Mapping[str, Any],
    *,
    phase_files: Mapping[str, list[Any]],
    group_files: Mapping[int, tuple[DataFile, ...]],
) -> Declared:
    """The schemes at top level, under phases and of cohorts.

    ``phase_files`` holds the schemes in the files of annotation phases, by phase name;
    ``group_files`` the item files of the groups of ``batch_assignment``, by position.

    >>> config = {"annotation_schemes": [
    ...     {"annotation_type": "span", "name": "ner", "labels": ["PER", {"name": "LOC"}]},
    ...     {"annotation_type": "radio", "name": "tone", "labels": ["good", "bad"]},
    ... ]}
    >>> found = declared_schemes(config, phase_files={}, group_files={})
    >>> found.spans[0].labels, found.categorical[0].labels, found.kinds
    (('PER', 'LOC'), ('good', 'bad'), (('ner', 'span'), ('tone', 'radio')))
    """
    listed = _listed_schemes(config, phase_files)
    shared = _named(listed)
    sets = {
        name: _bound(binding, shared, {})
        for name, binding in mapping(config.get("scheme_sets")).items()
    }
    batch = mapping(config.get("batch_assignment"))
    groups = [group for group in sequence(batch.get("groups")) if isinstance(group, dict)]
    bound = [
        None if group.get("schemes") is None else _bound(group["schemes"], shared, sets)
        for group in groups
    ]
    ordered = dict(shared)
    for extra in (*sets.values(), *(schemes for schemes in bound if schemes)):
        ordered.update({name: scheme for name, scheme in extra.items() if name not in ordered})
    kinds = (*SPAN_KINDS, *ANSWER_KINDS)
    spans = {name: scheme for name, scheme in ordered.items() if _kind(scheme) in kinds}
    takes_all = bool(batch.get("auto_assign_annotators"))
    cohorts = tuple(
        _cohort(group, schemes, group_files.get(position, ()))
        for position, (group, schemes) in enumerate(zip(groups, bound, strict=True))
        if takes_all or _annotators(group)
    )
    return Declared(
        spans=tuple(_span_scheme(name, scheme) for name, scheme in spans.items()),
        categorical=tuple(
            _categorical_scheme(name, scheme)
            for name, scheme in ordered.items()
            if _kind(scheme) in CATEGORICAL_KINDS
        ),
        kinds=tuple((name, _kind(scheme)) for name, scheme in ordered.items()),
        of_everybody=frozenset(shared),
        cohorts=cohorts if any(cohort.schemes is not None for cohort in cohorts) else (),
        without_labels=tuple(name for name, scheme in spans.items() if scheme.get("codebook")),
        with_bad_text=tuple(name for name, scheme in spans.items() if scheme.get("bad_text_label")),
        in_answers=tuple(
            InAnswers(name, _kind(scheme), _source_field(scheme))
            for name, scheme in spans.items()
            if _kind(scheme) in ANSWER_KINDS
        ),
        twice=_twice([*listed, *_of_cohorts(config, groups)], ordered),
        as_written=ordered,
    )


def with_annotators(
    schemes: Iterable[Scheme],
    *,
    declared: Declared,
    items_of: Mapping[str, Collection[str]],
    cohort_items: Mapping[int, frozenset[str]],
) -> tuple[Scheme, ...]:
    """The schemes with the annotators who were shown each; None where there are no cohorts.

    ``items_of`` are the assigned items by annotator, ``cohort_items`` the items of the cohorts by
    position. Potato looks for the annotator's name first; a cohort that took in anybody is found
    by where most of the annotator's items are.

    >>> found = Declared(of_everybody=frozenset({"a", "b"}), cohorts=(
    ...     Cohort(annotators=frozenset({"ann"}), schemes=frozenset({"a"})),
    ... ))
    >>> shown = with_annotators([Scheme("a"), Scheme("b")], declared=found,
    ...                         items_of={"ann": [], "ben": []}, cohort_items={})
    >>> [scheme.annotators for scheme in shown]
    [('ann', 'ben'), ('ben',)]
    """
    if not declared.cohorts:
        return tuple(schemes)
    shown = {
        annotator: _shown(annotator, items, declared, cohort_items)
        for annotator, items in items_of.items()
    }
    return tuple(
        replace(
            scheme,
            annotators=tuple(
                sorted(name for name, names_ in shown.items() if scheme.name in names_)
            ),
        )
        for scheme in schemes
    )


def _shown(
    annotator: str,
    items: Collection[str],
    declared: Declared,
    cohort_items: Mapping[int, frozenset[str]],
) -> frozenset[str]:
    for cohort in declared.cohorts:
        if annotator in cohort.annotators:
            return declared.of_everybody if cohort.schemes is None else cohort.schemes
    shares = Counter(
        {
            position: len(cohort_items.get(position, frozenset()).intersection(items))
            for position, cohort in enumerate(declared.cohorts)
            if not cohort.annotators
        }
    )
    best = max(shares, key=lambda position: (shares[position], -position), default=None)
    if best is None or not shares[best]:
        return declared.of_everybody
    schemes = declared.cohorts[best].schemes
    return declared.of_everybody if schemes is None else schemes


def resolved_by_label(spans: StoredSpans, schemes: Sequence[Scheme]) -> StoredSpans:
    """Spans that were stored without a scheme, with the only one that has their label.

    Those whose label several schemes have, or none of several, are marked as unplaced.

    >>> from potato_iaa.loaders.entries import Entry, stored_spans
    >>> entries = [Entry(schema="", name=name, start=0, end=3) for name in ("PER", "X")]
    >>> spans = stored_spans([("d1", entries)])
    >>> found = resolved_by_label(spans, [Scheme("a", ("PER", "X")), Scheme("b", ("PER",))])
    >>> found.schemes, found.scheme, list(found.unplaced)
    (('a', 'a or b'), array([1, 0]), [0])
    """
    names_of = [_schemes_with(label, schemes) for label in spans.labels]
    named = [" or ".join(found) for found in names_of]
    distinct = tuple(sorted(set(named)))
    codes = np.array([distinct.index(name) for name in named], dtype=np.int64)
    reasons = [
        "" if len(found) == 1 else AMBIGUOUS_SCHEME if found else UNKNOWN_SCHEME
        for found in names_of
    ]
    unplaced = {
        row: reasons[label] for row, label in enumerate(spans.label.tolist()) if reasons[label]
    }
    return replace(
        spans, schemes=distinct, scheme=codes[spans.label], unplaced={**spans.unplaced, **unplaced}
    )


def _schemes_with(label: str, schemes: Sequence[Scheme]) -> tuple[str, ...]:
    if len(schemes) <= 1:
        return (schemes[0].name if schemes else DEFAULT_SCHEME,)
    return tuple(scheme.name for scheme in schemes if label in scheme.labels)


def annotation_phases(config: Mapping[str, Any]) -> dict[str, dict[Any, Any]]:
    """The phases by name, whether given as a mapping or as a list."""
    phases = config.get("phases")
    if isinstance(phases, list):
        return {str(p["name"]): p for p in phases if isinstance(p, dict) and p.get("name")}
    return {
        str(name): phase
        for name, phase in mapping(phases).items()
        if name not in ("order", "counterbalance") and isinstance(phase, dict)
    }


def _listed_schemes(config: Mapping[str, Any], phase_files: Mapping[str, list[Any]]) -> list[Any]:
    listed = list(sequence(config.get("annotation_schemes")))
    for name, phase in annotation_phases(config).items():
        listed += sequence(phase.get("annotation_schemes")) or phase_files.get(name, [])
    return listed


def _named(schemes: Iterable[Any]) -> dict[str, dict[Any, Any]]:
    """The schemes by name; of two with one name the first."""
    found: dict[str, dict[Any, Any]] = {}
    for scheme in schemes:
        if isinstance(scheme, dict) and scheme.get("name") not in (None, ""):
            found.setdefault(names([scheme["name"]])[0], scheme)
    return found


def _of_cohorts(config: Mapping[str, Any], groups: Iterable[dict[Any, Any]]) -> Iterator[Any]:
    """The schemes that stand in full in the lists of cohorts."""
    bindings = [group.get("schemes") for group in groups]
    for binding in (*mapping(config.get("scheme_sets")).values(), *bindings):
        yield from (member for member in sequence(binding) if isinstance(member, dict))


def _twice(schemes: Iterable[Any], first: Mapping[str, Mapping[Any, Any]]) -> tuple[str, ...]:
    """The names of the schemes that are not those declared first under their names."""
    found = (_named([scheme]) for scheme in schemes)
    return names(name for one in found for name in one if one[name] != first[name])


def _bound(
    binding: Any, shared: dict[str, dict[Any, Any]], sets: Mapping[Any, dict[str, dict[Any, Any]]]
) -> dict[str, dict[Any, Any]]:
    """What a ``schemes`` entry stands for: a set's name, a scheme's name, or a list of both."""
    if isinstance(binding, str):
        if binding in sets:
            return sets[binding]
        return {binding: shared[binding]} if binding in shared else shared
    listed = [
        shared.get(member) if isinstance(member, str) else member for member in sequence(binding)
    ]
    return _named(listed) or shared


def _cohort(
    group: dict[Any, Any], schemes: dict[str, Any] | None, files: tuple[DataFile, ...]
) -> Cohort:
    listed = group.get("instances", group.get("items", group.get("instance_ids")))
    return Cohort(
        annotators=_annotators(group),
        schemes=None if schemes is None else frozenset(schemes),
        items=frozenset(names(one_or_many(listed))),
        files=files,
    )


def _annotators(group: dict[Any, Any]) -> frozenset[str]:
    return frozenset(names(one_or_many(group.get("annotators", group.get("users")))))


def _kind(scheme: Mapping[Any, Any]) -> str:
    return str(scheme.get("annotation_type", "")).strip().lower()


def _label_names(scheme: Mapping[Any, Any]) -> tuple[str, ...]:
    labels = scheme.get("labels")
    listed = list(labels) if isinstance(labels, dict) else one_or_many(labels)
    return names(name for name in map(_label_name, listed) if name is not None)


def _label_name(label: Any) -> Any:
    if not isinstance(label, dict):
        return label
    return next((label[key] for key in ("name", "label", "text") if key in label), None)


def _span_scheme(name: str, scheme: Mapping[Any, Any]) -> Scheme:
    if _kind(scheme) == "error_span":
        return Scheme(name=name, labels=_error_labels(scheme))
    if _kind(scheme) == "extractive_qa":
        return Scheme(name=name, labels=(ANSWER_LABEL,))
    target = scheme.get("target_field")
    return Scheme(
        name=name, labels=_label_names(scheme), fields=names([target]) if target else None
    )


def _error_labels(scheme: Mapping[Any, Any]) -> tuple[str, ...]:
    """Types of errors, with their subtypes as ``type/subtype``."""
    found: list[str] = []
    for kind in one_or_many(scheme.get("error_types")):
        name = _label_name(kind)
        subtypes = one_or_many(mapping(kind).get("subtypes"))
        if name is not None:
            found += [f"{name}/{subtype}" for subtype in subtypes] or [str(name)]
    return names(found)


def _source_field(scheme: Mapping[Any, Any]) -> str:
    if _kind(scheme) == "extractive_qa":
        return str(scheme.get("passage_field") or "passage")
    return str(scheme.get("source_field") or "")


def _categorical_scheme(name: str, scheme: Mapping[Any, Any]) -> CategoricalScheme:
    kind = _kind(scheme)
    size = number(scheme.get("size"))
    if kind == "likert":
        points = range(1, int(size) + 1) if size is not None and 0 < size < 1000 else range(0)
        return CategoricalScheme(
            name=name,
            kind=kind,
            labels=names(points),
            minimum=1.0 if points else None,
            maximum=float(len(points)) if points else None,
        )
    return CategoricalScheme(
        name=name,
        kind=kind,
        labels=_label_names(scheme),
        minimum=number(scheme.get("min_value")),
        maximum=number(scheme.get("max_value")),
    )
