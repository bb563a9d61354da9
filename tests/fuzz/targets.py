"""What is fuzzed: a project whose one file holds any bytes, and what must hold whatever they are.

Reading ends in a corpus, of which every span that the bytes hold stands in the ledger, and which
is measured and reported; or in one sentence. This module needs no fuzzer.
"""

from __future__ import annotations

import csv
import hashlib
import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from potato_iaa import measure, read_project
from potato_iaa.corpus import Corpus
from potato_iaa.errors import PotatoIAAError, UsageError
from potato_iaa.reporter.files import report_files
from tests.fuzz import stored
from tests.loaders.projects import assert_accounted

LEFT = Path(__file__).parents[1] / "loaders" / "left"
FOUND = Path(__file__).parent / "found"
LONGEST_SENTENCE = 3000
_PAIR = ("config.yaml", "data/*", "annotation_output/dave/*", "annotation_output/frank/*")
_STATES = "*/annotation_output/*/user_state.json"


@dataclass(frozen=True)
class Target:
    """A file of a project that is replaced by any bytes.

    ``home`` is a folder of ``tests/loaders/left``, ``copied`` what of it is taken, ``file`` the
    file that is replaced, ``path`` what is read. ``seeds`` are files to begin with, ``form`` the
    form in which they are changed. ``stored`` counts the spans in the bytes of a file, and
    ``holders`` are the files that hold spans.
    """

    home: str
    copied: tuple[str, ...]
    file: str
    path: str
    seeds: tuple[str, ...]
    form: str
    stored: Callable[[bytes], int] = stored.none
    holders: tuple[str, ...] = ()


def _of_states(file: str, seeds: tuple[str, ...], form: str, path: str = "config.yaml") -> Target:
    """A file beside two states, whose spans must be accounted for whatever the file holds."""
    return Target(
        "tricky_2.12.1", _PAIR, file, path, seeds, form, stored.in_state, ("*/*/user_state.json",)
    )


def _of_potato_1(home: str, file: str, seeds: tuple[str, ...], form: str) -> Target:
    holders = ("annotation_output/*/annotated_instances.jsonl",)
    return Target(home, ("**/*",), file, "config.yaml", seeds, form, stored.in_lines_1, holders)


def _of_export(file: str, form: str, counter: Callable[[bytes], int], seed: str = "") -> Target:
    return Target(
        "multifield_2.12.1", (file,), file, file, (seed or f"*/{file}",), form, counter, (file,)
    )


TARGETS = {
    "state": _of_states("annotation_output/frank/user_state.json", (_STATES,), "json"),
    "config_yaml": _of_states("config.yaml", ("*/config.yaml",), "yaml"),
    "items_jsonl": _of_states("data/items.jsonl", ("*/data/items.jsonl",), "lines"),
    "items_json": _of_states("data/items.json", (), "json", "json.yaml"),
    "items_csv": _of_states("data/items.csv", (), "csv", "csv.yaml"),
    "items_tsv": _of_states("data/items.tsv", (), "tsv", "tsv.yaml"),
    "lines_1": _of_potato_1(
        "1.2.2.4",
        "annotation_output/alice/annotated_instances.jsonl",
        ("1.*/annotation_output/*/annotated_instances.jsonl",),
        "lines",
    ),
    "order_1": _of_potato_1(
        "1.2.2.4",
        "annotation_output/alice/annotation_order.txt",
        ("1.*/annotation_output/*/annotation_order.txt",),
        "bytes",
    ),
    "assigned_1": _of_potato_1(
        "1.2.2.4_autoassign",
        "annotation_output/bob/assigned_user_data.json",
        ("1.*/annotation_output/*/assigned_user_data.json",),
        "json",
    ),
    "config_json": _of_potato_1("1.2.0.7", "config.yaml", ("1.*/config.yaml",), "json"),
    "csv_1": Target(
        "1.2.2.4",
        ("annotation_output/annotated_instances.csv",),
        "annotation_output/annotated_instances.csv",
        "annotation_output/annotated_instances.csv",
        ("1.2.2.4/annotation_output/annotated_instances.csv",),
        "csv",
        stored.in_table_1(","),
        ("annotation_output/annotated_instances.csv",),
    ),
    "tsv_1": Target(
        "1.2.2.4_autoassign",
        ("annotation_output/annotated_instances.tsv",),
        "annotation_output/annotated_instances.tsv",
        "annotation_output/annotated_instances.tsv",
        ("1.2.2.4_autoassign/annotation_output/annotated_instances.tsv",),
        "tsv",
        stored.in_table_1("\t"),
        ("annotation_output/annotated_instances.tsv",),
    ),
    "csv": _of_export("exports/csv/annotations.csv", "csv", stored.in_table(",")),
    "tsv": _of_export("exports/tsv/annotations.tsv", "tsv", stored.in_table("\t")),
    "jsonl": _of_export("exports/jsonl/annotations.jsonl", "lines", stored.in_lines),
    "quotations": _of_export(
        "exports/quotation_report/quotations.csv", "csv", stored.in_quotations
    ),
    "web_annotation": _of_export(
        "exports/web_annotation/web_annotations.jsonld",
        "json",
        stored.in_web_annotations,
        "multifield_2.12.1/exports/web_annotation/web_annotations.jsonld",
    ),
    "parquet": _of_export("exports/parquet/spans.parquet", "bytes", stored.none),
    "tei": Target(
        "tricky_2.12.1",
        ("config.yaml", "data/*", "exports/tei/dave/tei/*"),
        "exports/tei/dave/tei/potato.xml",
        "exports/tei",
        ("*/exports/tei/*/tei/potato.xml", "*/exports/tei/tei/potato.xml"),
        "bytes",
        stored.in_tei,
        ("exports/tei/dave/tei/potato.xml",),
    ),
    "conll_u": Target(
        "tricky_2.12.1",
        ("config.yaml", "data/*", "exports/conll_u/annotations.dave.conllu"),
        "exports/conll_u/annotations.dave.conllu",
        "exports/conll_u",
        ("*/exports/conll_u/*.conllu",),
        "bytes",
        stored.in_conll_u,
        ("exports/conll_u/*.conllu",),
    ),
    "conll_2003": Target(
        "tricky_2.12.1",
        ("config.yaml", "data/*", "exports/conll_2003/annotations.dave.conll"),
        "exports/conll_2003/annotations.dave.conll",
        "exports/conll_2003",
        ("*/exports/conll_2003/*.conll",),
        "bytes",
        stored.in_conll_2003,
        ("exports/conll_2003/*.conll",),
    ),
}


@dataclass
class Trial:
    """A target whose project lies in a folder, ready for one input after the other.

    ``beside`` counts the spans in the files that stay. One corpus of ``one_of`` is measured.
    """

    target: Target
    folder: Path
    beside: int
    one_of: int
    measured: set[bytes]

    @classmethod
    def of(cls, name: str, folder: Path, *, one_of: int = 1) -> Trial:
        """The target of this name, its project copied to an empty folder."""
        target = TARGETS[name]
        home = LEFT / target.home
        for pattern in target.copied:
            for source in sorted(home.glob(pattern)):
                if source.is_file():
                    place = folder / source.relative_to(home)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, place)
        file = folder / target.file
        if not file.exists():
            _move_items(folder, file)
        others = {found for pattern in target.holders for found in folder.glob(pattern)} - {file}
        beside = sum(target.stored(found.read_bytes()) for found in others)
        return cls(target, folder, beside, one_of, set())

    def try_bytes(self, content: bytes) -> str:
        """The sentence with which a project with these bytes is refused; empty if it is read.

        Raises AssertionError, or whatever was raised, where a promise is broken.
        """
        (self.folder / self.target.file).write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                corpus = read_project(self.folder / self.target.path)
            except PotatoIAAError as fault:
                sentence = str(fault)
                _assert_a_sentence(sentence)
                with suppress(PotatoIAAError):
                    path = self.folder / self.target.path
                    assert_accounted(read_project(path, skip_broken=True))
                return sentence
            self._check(corpus, content)
        return ""

    def _check(self, corpus: Corpus, content: bytes) -> None:
        assert_accounted(corpus)
        ledger = corpus.ledger
        told = int(ledger.read["read"].sum()) + int(ledger.left_out["spans"].sum())
        own = self._spans_in(content)
        assert told >= own + self.beside, f"{own} + {self.beside} spans, of which {told} are told"
        key = _digest(corpus)
        if key in self.measured or key[0] % self.one_of:
            return
        self.measured.add(key)
        try:
            report_files(measure(corpus, bootstrap=0), formats=["json"])
        except UsageError as fault:
            _assert_a_sentence(str(fault))

    def _spans_in(self, content: bytes) -> int:
        """A lower bound; 0 where the bytes are no well-formed file, or one without spans."""
        file = Path(self.target.file)
        if any(file.match(pattern) for pattern in self.target.holders):
            with suppress(Exception):
                return self.target.stored(content)
        return 0


def _move_items(folder: Path, file: Path) -> None:
    """Write the items to a file of another ending, and a configuration that takes them there."""
    ending = file.suffix.removeprefix(".")
    config = (folder / "config.yaml").read_text("utf-8")
    moved = config.replace("data/items.jsonl", f"data/items.{ending}")
    (folder / f"{ending}.yaml").write_text(moved, "utf-8")
    items = pd.read_json(folder / "data" / "items.jsonl", lines=True, dtype=False)
    if ending == "json":
        items.to_json(file, orient="records")
    elif ending == "tsv":
        # Cells of these tables stand unquoted.
        items["text"] = items["text"].str.replace(r"[\t\r\n]", " ", regex=True)
        items.to_csv(file, index=False, sep="\t", quoting=csv.QUOTE_NONE)
    else:
        items.to_csv(file, index=False)


def _assert_a_sentence(told: str) -> None:
    # A path may hold line breaks; the command line writes them out.
    assert 20 < len(told) < LONGEST_SENTENCE, f"no sentence: {told!r}"


def _digest(corpus: Corpus) -> bytes:
    """Equal for corpora of the same spans and passes, which need not be measured again."""
    frames = [corpus.spans, corpus.passes, corpus.answers]
    values = [frame[column].tolist() for frame in frames for column in frame]
    told = repr((corpus.schemes, values)).encode("utf-8", "replace")
    return hashlib.blake2b(told).digest()
