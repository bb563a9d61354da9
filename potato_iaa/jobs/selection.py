"""Parts of a corpus: some of its items, or all of it under pseudonyms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from potato_iaa.corpus import Corpus
from potato_iaa.errors import UsageError
from potato_iaa.ledger import UNREADABLE, Ledger


def chosen_items(corpus: Corpus, patterns: Sequence[str]) -> Corpus:
    """The corpus of the items whose ids match one of the patterns.

    Patterns are those of file names: ``*``, ``?``, ``[…]``. The ledger still says what was read.
    Raises UsageError: no item is left.

    >>> corpus = Corpus.from_tables(
    ...     items=[("r1-1", "Ada"), ("r2-1", "Ben")],
    ...     passes=[("r1-1", "ann"), ("r2-1", "ann")],
    ...     spans=[],
    ... )
    >>> list(chosen_items(corpus, ["r1-*"]).items["item"])
    ['r1-1']
    """
    names = [str(name) for name in corpus.items["item"].cat.categories]
    kept = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
    told = ", ".join(patterns)
    if not kept:
        raise UsageError(
            f"{corpus.source.name}: none of its {len(names)} items matches {told}: "
            "correct the pattern."
        )
    note = f"{len(kept):,} of {len(names):,} items are measured ({told})."
    return _restricted(corpus, frozenset(kept), note)


def passes_within(
    corpus: Corpus,
    times: Mapping[tuple[str, str], datetime],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Corpus:
    """The corpus of the passes from ``since`` on and before ``until``, and of their items.

    ``times`` are by annotator and item. A pass without one counts with the pass that its annotator
    made before it, or else after it: Potato never stores the time of somebody's last item. Whoever
    has no times at all is in no part, and a note says so. Raises UsageError: no pass is left.
    """
    passes = corpus.passes
    times = _filled(passes, times)
    keys = list(zip(map(str, passes["annotator"]), map(str, passes["item"]), strict=True))
    kept = [
        key in times
        and (since is None or times[key] >= since)
        and (until is None or times[key] < until)
        for key in keys
    ]
    bounds = [] if since is None else [f"from {since.isoformat()} on"]
    bounds += [] if until is None else [f"before {until.isoformat()}"]
    if not any(kept):
        raise UsageError(f"{corpus.source.name}: no pass began {' and '.join(bounds)}.")
    timeless = sum(key not in times for key in keys)
    note = f"{sum(kept):,} of {len(keys):,} passes are measured ({' and '.join(bounds)}"
    note += f"; {timeless:,} have no time)." if timeless else ")."
    chosen = replace(corpus, passes=passes[np.array(kept, dtype=bool)])
    owners = frozenset(key for key, is_kept in zip(keys, kept, strict=True) if is_kept)
    for name in ("spans", "answers"):
        frame = getattr(corpus, name)
        rows = zip(map(str, frame["annotator"]), map(str, frame["item"]), strict=True)
        inside = np.array([row in owners for row in rows], dtype=bool)
        chosen = replace(chosen, **{name: frame[inside]})
    return _restricted(chosen, frozenset(item for _, item in owners), note)


def _filled(
    passes: pd.DataFrame, times: Mapping[tuple[str, str], datetime]
) -> dict[tuple[str, str], datetime]:
    """The times, and those of neighbours for passes that have none of their own."""
    filled = dict(times)
    ordered = passes.sort_values(["annotator", "order"], kind="stable")
    keys = list(zip(map(str, ordered["annotator"]), map(str, ordered["item"]), strict=True))
    for listed in (keys, keys[::-1]):
        for before, key in pairwise(listed):
            if key not in filled and before in filled and before[0] == key[0]:
                filled[key] = filled[before]
    return filled


def _restricted(corpus: Corpus, items: frozenset[str], note: str) -> Corpus:
    def of(frame: pd.DataFrame) -> pd.DataFrame:
        kept = frame[frame["item"].isin(items).to_numpy()].reset_index(drop=True)
        coded = kept.select_dtypes("category").columns
        return kept.assign(**{name: kept[name].cat.remove_unused_categories() for name in coded})

    return replace(
        corpus,
        items=of(corpus.items),
        passes=of(corpus.passes),
        spans=of(corpus.spans),
        answers=of(corpus.answers),
        ledger=replace(corpus.ledger, notes=(*corpus.ledger.notes, note)),
    )


def pseudonymized(corpus: Corpus) -> Corpus:
    """The corpus with other names for the annotators, in the ledger and its notes too.

    The order of the pseudonyms is that of the names' hashes, so that it says nothing of the names.

    >>> corpus = Corpus.from_tables(
    ...     items=[("d1", "Ada")], passes=[("d1", "ann"), ("d1", "ben")], spans=[]
    ... )
    >>> list(pseudonymized(corpus).annotators["annotator"])
    ['annotator-1', 'annotator-2']
    """
    pseudonyms = _pseudonyms({*map(str, corpus.annotators["annotator"]), *_names_in(corpus.ledger)})
    named = corpus.annotators.assign(
        annotator=[pseudonyms[name] for name in corpus.annotators["annotator"]]
    )
    return replace(
        corpus,
        passes=_renamed(corpus.passes, pseudonyms),
        spans=_renamed(corpus.spans, pseudonyms),
        answers=_renamed(corpus.answers, pseudonyms),
        annotators=named.sort_values("annotator", ignore_index=True),
        schemes=tuple(
            scheme
            if scheme.annotators is None
            else replace(
                scheme,
                annotators=tuple(sorted(pseudonyms.get(who, who) for who in scheme.annotators)),
            )
            for scheme in corpus.schemes
        ),
        source=replace(corpus.source, reading=_without_names(corpus.source.reading)),
        ledger=_hidden(corpus.ledger, pseudonyms),
    )


def _without_names(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The choices of reading, with how many of what would name somebody: a pattern may, too."""
    named = ("include_annotators", "exclude_annotators", "merge", "roles")
    hidden = {name: len(value) if name in named else value for name, value in reading.items()}
    return hidden | {"pseudonyms": True}


# What is left out under the name of somebody, rather than of an item.
_OF_PEOPLE = (
    *("annotator", UNREADABLE, "adjudicator", "debug user", "machine annotator"),
    *("room answers", "timed-out trials", "phase"),
)
_STRAYS = ("file", "folder")
# The start of what is said of a folder that an annotator's files should be in.
_WITHOUT_WORK = "holds no "


def _names_in(ledger: Ledger) -> Iterator[str]:
    """The names in a ledger, and those of annotators' folders in which something else lies."""
    for frame in (ledger.read, ledger.entries, ledger.passes):
        yield from map(str, frame["annotator"].unique())
    left_out = ledger.left_out
    columns = (left_out[name].astype(str) for name in ("what", "name", "reason"))
    for what, name, reason in zip(*columns, strict=True):
        if what in _OF_PEOPLE:
            yield name
        elif what in _STRAYS and "/" in name:
            yield name.partition("/")[0]
        elif what == "folder" and reason.startswith(_WITHOUT_WORK):
            yield name


def _pseudonyms(names: set[str]) -> dict[str, str]:
    ordered = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    width = len(str(len(ordered)))
    return {name: f"annotator-{place:0{width}}" for place, name in enumerate(ordered, 1)}


def _renamed(frame: pd.DataFrame, pseudonyms: Mapping[str, str]) -> pd.DataFrame:
    named = frame["annotator"].astype(object).map(lambda name: pseudonyms.get(str(name), name))
    order = sorted(named.unique())
    return frame.assign(annotator=pd.Categorical(named, categories=pd.Index(order, dtype=object)))


def _hidden(ledger: Ledger, pseudonyms: Mapping[str, str]) -> Ledger:
    def of(frame: pd.DataFrame) -> pd.DataFrame:
        names = frame["annotator"].astype(object)
        return frame.assign(annotator=[pseudonyms.get(str(name), name) for name in names])

    left_out = ledger.left_out
    hidden = _hider(pseudonyms)
    of_file = _hider(pseudonyms, in_names=True)

    def name_of(what: str, name: str) -> str:
        if what in _OF_PEOPLE:
            return pseudonyms[name]
        return of_file(name) if what in _STRAYS else name

    return replace(
        ledger,
        read=of(ledger.read),
        entries=of(ledger.entries),
        passes=of(ledger.passes),
        left_out=left_out.assign(
            name=[
                name_of(str(what), str(name))
                for what, name in zip(left_out["what"], left_out["name"], strict=True)
            ],
            reason=[hidden(str(reason)) for reason in left_out["reason"]],
        ),
        notes=tuple(map(hidden, ledger.notes)),
    )


def hide(sentence: str, pseudonyms: Mapping[str, str]) -> str:
    """The sentence with pseudonyms for names that are quoted or are folders of a path.

    >>> hide("out/ann/user_state.json is that of 'ann', a name", {"ann": "annotator-1"})
    "out/annotator-1/user_state.json is that of 'annotator-1', a name"
    """
    return _hider(pseudonyms)(sentence)


def _hider(pseudonyms: Mapping[str, str], *, in_names: bool = False) -> Callable[[str], str]:
    """What puts pseudonyms for names that are quoted or part of a path, all at once.

    ``in_names``: for names that are part of a file's name, too.
    """
    forms = {repr(name): repr(pseudonym) for name, pseudonym in pseudonyms.items()}
    # Within a text that is quoted as a whole, as paths are.
    forms |= {repr(name)[1:-1]: pseudonym for name, pseudonym in pseudonyms.items()}
    forms |= dict(pseudonyms)
    longest_first = sorted((form for form in forms if form), key=len, reverse=True)
    if not longest_first:
        return str
    quoted = "|".join(re.escape(repr(name)) for name in pseudonyms)
    plain = "|".join(map(re.escape, longest_first))
    edge = r"[^\W_]"
    found = re.compile(
        rf"(?<!{edge})(?:{plain})(?!{edge})"
        if in_names
        else rf"{quoted}|(?<=[/\\])(?:{plain})(?=[/\\'\"]|$)|(?<![^\s'\"])(?:{plain})(?=[/\\])"
    )
    return lambda text: found.sub(lambda match: forms[match.group()], text)
