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
from potato_iaa.measures.names import _PARAMETERS, AVERAGES, CODINGS, NAMES, MeasureName
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
