"""Measure names: text to value and back, and the figures they find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_iaa import measure
from potato_iaa.errors import UsageError
from potato_iaa.matcher.rules import PLAIN, parse_rule
from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import (
    _PARAMETERS,
    AVERAGES,
    CODINGS,
    HEADLINE,
    NAMES,
    MeasureName,
    estimate_of,
)
from potato_iaa.measures.registry import ON_REQUEST
from tests.corpora import corpus_of

RULES = [*PLAIN.values(), parse_rule("overlap(iou>=0.5)"), parse_rule("overlap(dice>=0.25)")]


@pytest.fixture(scope="module")
def scheme() -> SchemeAgreement:
    corpus = corpus_of(
        {
            "d1": {"ann": [(0, 3, "PER"), (5, 8, "LOC")], "ben": [(0, 3, "PER")]},
            "d2": {"ann": [(0, 3, "PER")], "ben": [(1, 3, "LOC")]},
            "d3": {"ann": [], "ben": [(0, 1, "ORG")]},
        },
        labels=["PER", "LOC", "ORG", "NEVER, (used)"],
    )
    asked = ["alpha_u", "cohen", "scott", "fleiss"]
    return measure(corpus, bootstrap=20, measures=asked).schemes["spans"]


@st.composite
def names(draw: st.DrawFn) -> MeasureName:
    figure = draw(st.sampled_from(NAMES))
    takes = _PARAMETERS.get(figure, ())
    labels = st.text() if figure in ("k_u_alpha", "gamma_k") else st.none() | st.text()
    return MeasureName(
        figure=figure,
        match=draw(st.sampled_from(RULES)) if "match" in takes else MeasureName.match,
        types=draw(st.booleans()) if "types" in takes else True,
        average=draw(st.sampled_from(list(AVERAGES))) if "average" in takes else "pairs",
        label=draw(labels) if "label" in takes else None,
        flattened=draw(st.booleans()) if "flattened" in takes else False,
        coding=draw(st.sampled_from(CODINGS)) if "coding" in takes else "label",
    )


@given(names())
def test_the_text_of_a_name_parses_back(name: MeasureName) -> None:
    assert MeasureName.parse(str(name)) == name
    assert repr(name) == str(name)


@pytest.mark.parametrize(
    "text",
    [
        "F1",
        "F1(match=exact,types=yes)",
        "F1(match=overlap,types=no,average=pooled)",
        "F1(match=exact,types=yes,average=items,label=PER)",
        'F1(match=exact,types=yes,label="NEVER, (used)")',
        "F1(match=overlap(iou>=0.5),types=yes)",
        "F1(match=exact,types=yes,label=NOBODY)",
        "token_alpha",
        "token_alpha(label=PER)",
        "token_alpha_bio",
        "token_alpha_binary",
        "token_alpha_marked",
        "token_alpha_io_longest",
        "observed_agreement",
        "beyond_chance",
        "cohen",
        "cohen(coding=bio)",
        "scott(coding=binary)",
        "fleiss",
        "fleiss(coding=io_longest)",
        "gamma",
        "gamma_k(label=PER)",
        "matched_label_alpha",
        "u_alpha",
        "u_alpha(label=LOC)",
        "u_alpha(flattened=yes)",
        "binary_u_alpha",
        "cu_alpha",
        "k_u_alpha(label=PER)",
        "k_u_alpha(label=NOBODY)",
        "k_u_alpha(label=PER,flattened=yes)",
        "alpha_u",
        "alpha_u(label=PER)",
        "existence_loss",
        "label_loss",
        "boundary_loss",
    ],
)
def test_report_json_and_the_measurement_agree(text: str, scheme: SchemeAgreement) -> None:
    name = MeasureName.parse(text)
    found = name.lookup(scheme)
    assert isinstance(found, Estimate)
    assert found.to_dict() == name.lookup_in(scheme.to_dict()).to_dict()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        # The keys of report.json, and the text that names each place of it.
        ("F1(match=exact,types=yes)", "f1 exact_typed mean_over_pairs"),
        ("F1(match=soft(dice),types=no)", "f1 soft(dice)_untyped mean_over_pairs"),
        ("F1(match=exact,types=yes,average=pooled)", "f1 exact_typed pooled"),
        (
            "F1(match=exact,types=no,average=items,label=PER)",
            "f1 exact_untyped labels PER mean_over_items",
        ),
        *(
            (f"token_{figure}", f"token {figure}")
            for figure in ("alpha", "alpha_bio", "alpha_binary", "alpha_marked", "alpha_io_longest")
        ),
        ("token_alpha(label=PER)", "token labels PER"),
        ("observed_agreement", "token observed_agreement"),
        ("matched_label_alpha", "matched_labels alpha"),
        *(
            (text.format(figure), path.format(figure))
            for figure in ("u_alpha", "binary_u_alpha", "cu_alpha")
            for text, path in (
                ("{}", "unitizing {}"),
                ("{}(flattened=yes)", "unitizing flattened {}"),
            )
        ),
        ("u_alpha(label=PER)", "unitizing layers PER"),
        ("u_alpha(label=PER,flattened=yes)", "unitizing flattened layers PER"),
        ("alpha_u", "unitizing alpha_u mean_over_items"),
        ("alpha_u(label=PER)", "unitizing alpha_u labels PER"),
        ("cohen(coding=bio)", "token cohen bio mean"),
        ("fleiss(coding=binary)", "token fleiss binary"),
        ("gamma", "gamma mean_over_items"),
        ("gamma_cat", "gamma gamma_cat"),
        ("gamma_k(label=PER)", "gamma gamma_k PER"),
        ("existence_loss", "lost existence"),
        ("label_loss", "lost label"),
        ("boundary_loss", "lost boundary"),
    ],
)
def test_a_name_has_its_place_in_report_json(text: str, path: str) -> None:
    name = MeasureName.parse(text)
    assert name.path == tuple(path.split())
    assert str(name) == text
    assert name.is_loss == text.endswith("loss")


def test_the_headline_is_exact_typed_f1_over_pairs() -> None:
    assert HEADLINE == MeasureName() == MeasureName.parse("F1")
    assert MeasureName.parse("F1(average=pairs,types=yes,match=exact)") == HEADLINE
    assert str(HEADLINE) == "F1(match=exact,types=yes)"


@pytest.mark.parametrize(
    ("label", "written"),
    [
        ("PER", "PER"),
        ("per son.1-b", "per son.1-b"),
        ("é", "é"),
        ("", '""'),
        (" x", '" x"'),
        ("x ", '"x "'),
        ("a,b", '"a,b"'),
        ("(", '"("'),
        (")", '")"'),
        ('a"b', r'"a\"b"'),
        ("a\\", r'"a\\"'),
        ('\\",(', r'"\\\",("'),
        ("é, à", '"é, à"'),
    ],
)
def test_a_label_is_quoted_where_it_could_be_misread(label: str, written: str) -> None:
    name = MeasureName("token_alpha", label=label)
    assert str(name) == f"token_alpha(label={written})"
    assert MeasureName.parse(str(name)) == name


def test_a_figure_of_report_json_may_tell_its_value_alone() -> None:
    assert estimate_of({"value": 0.5}) == Estimate(0.5)
    assert estimate_of({"value": None, "why": "no text"}) == Estimate(None, "no text")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("alpha_u", "alpha_u was not measured"),
        ("alpha_u(label=PER)", "alpha_u was not measured"),
    ],
)
def test_what_is_made_on_request_was_not_measured_unasked(text: str, why: str) -> None:
    scheme = measure(corpus_of({"d": {"a": [(0, 1, "PER")], "b": []}}), bootstrap=0).schemes[
        "spans"
    ]
    name = MeasureName.parse(text)
    assert name.lookup(scheme) == Estimate(None, why)
    assert name.lookup_in(scheme.to_dict()) == Estimate(None, why)
    assert name.lookup_in({}) == Estimate(None, why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("F1(match=terms)", "rule terms was not measured"),
        ("F1(label=NOBODY)", "no such label"),
        ("k_u_alpha(label=NOBODY)", "no such label"),
        ("gamma_cat", "gamma_cat was not measured"),
        ("u_alpha(flattened=yes)", "no overlapping spans, so nothing was flattened"),
    ],
)
def test_what_was_not_measured_says_so(text: str, why: str, scheme: SchemeAgreement) -> None:
    assert MeasureName.parse(text).lookup(scheme) == Estimate(None, why)


def test_replicates_bound_the_interval(scheme: SchemeAgreement) -> None:
    losses = ("existence_loss", "label_loss", "boundary_loss")
    for text in ("F1", "F1(label=PER)", "F1(average=pooled)", "token_alpha", "cohen", *losses):
        figure = MeasureName.parse(text).lookup(scheme)
        assert figure.replicates is not None
        assert figure.low is not None
        assert figure.high is not None
        assert len(figure.replicates) == 20
        assert np.nanmin(figure.replicates) <= figure.low + 1e-12
        assert figure.high - 1e-12 <= np.nanmax(figure.replicates)


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("F1", None),
        ("token_alpha", None),
        ("k_u_alpha(label=PER)", None),
        ("cohen(coding=bio)", "cohen"),
        ("fleiss", "fleiss"),
        ("alpha_u", "alpha_u"),
        ("gamma", "gamma"),
        ("gamma_cat", "gamma"),
        ("gamma_k(label=PER)", "gamma"),
    ],
)
def test_a_figure_on_request_knows_its_coefficient(text: str, request_: str | None) -> None:
    assert MeasureName.parse(text).request == request_
    assert request_ is None or request_ in ON_REQUEST


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f1", "did you mean 'F1'"),
        ("tokenalpha", "did you mean 'token_alpha'"),
        (
            "tokn_alpha(label=of all words the longest)",
            "(label=of all words the longest)': did you mean 'token_alpha'? there are F1, ",
        ),
        ("zzzz", "no measure 'zzzz': there are F1, token_alpha, "),
        ("F1(match=exact) twice", "no measure"),
        ("F1(flattened=yes)", "F1 has no 'flattened', it takes match, types, average, label."),
        ("existence_loss(label=X)", "existence_loss has no 'label', it takes no parameters."),
        ("u_alpha(flattened=maybe)", "flattened is one of yes, no"),
        ('token_alpha(label="a"b)', "is not a quoted text"),
        ('token_alpha(label="a)', "a bracket or a quote is not closed"),
        ("F1(match=fuzzy)", "no match rule 'fuzzy'"),
        ("k_u_alpha", "k_u_alpha is that of one label: give label=…"),
        ("gamma_k()", "gamma_k is that of one label: give label=…"),
        ("cohen(coding=iob)", "coding is one of label, io_longest, bio, binary"),
        ("F1(types=maybe)", "types is one of yes, no"),
        ("F1(average=mean)", "average is one of pairs, pooled, items"),
        ("F1(match)", "'match' is not of the form key=value"),
        ("F1(match=exact,match=terms)", "'match' stands twice"),
        ("F1(match=overlap(iou>=0.5)", "not closed"),
        ("token_alpha_bio(label=PER)", "token_alpha_bio has no 'label'"),
        ("", "no measure ''"),
    ],
)
def test_what_is_no_name(text: str, told: str) -> None:
    with pytest.raises(UsageError) as refused:
        MeasureName.parse(text)
    assert told in str(refused.value)
