"""Measure names: text to value and back, and the figures they find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from potato_iaa import measure
from potato_iaa.errors import UsageError
from potato_iaa.matcher.rules import PLAIN, parse_rule
from potato_iaa.measures.agreement import SchemeAgreement
from potato_iaa.measures.estimate import Estimate
from potato_iaa.measures.names import _PARAMETERS, AVERAGES, NAMES, MeasureName
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
    return measure(corpus, bootstrap=20, measures=["alpha_u"]).schemes["spans"]


@st.composite
def names(draw: st.DrawFn) -> MeasureName:
    figure = draw(st.sampled_from(NAMES))
    takes = _PARAMETERS.get(figure, ())
    return MeasureName(
        figure=figure,
        match=draw(st.sampled_from(RULES)) if "match" in takes else MeasureName.match,
        types=draw(st.booleans()) if "types" in takes else True,
        average=draw(st.sampled_from(list(AVERAGES))) if "average" in takes else "pairs",
        label=draw(st.none() | st.text()) if "label" in takes else None,
        flattened=draw(st.booleans()) if "flattened" in takes else False,
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
        "matched_label_alpha",
        "u_alpha",
        "u_alpha(label=LOC)",
        "u_alpha(flattened=yes)",
        "binary_u_alpha",
        "cu_alpha",
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
        ("u_alpha(flattened=yes)", "no overlapping spans, so nothing was flattened"),
    ],
)
def test_what_was_not_measured_says_so(text: str, why: str, scheme: SchemeAgreement) -> None:
    assert MeasureName.parse(text).lookup(scheme) == Estimate(None, why)


def test_replicates_bound_the_interval(scheme: SchemeAgreement) -> None:
    for text in ("F1", "F1(label=PER)", "existence_loss", "label_loss", "boundary_loss"):
        name = MeasureName.parse(text)
        replicates, figure = name.replicates(scheme), name.lookup(scheme)
        assert replicates is not None
        assert figure.low is not None
        assert figure.high is not None
        assert len(replicates) == 20
        assert replicates.min() <= figure.low + 1e-12
        assert figure.high - 1e-12 <= replicates.max()
    assert MeasureName.parse("token_alpha").replicates(scheme) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("f1", "did you mean 'F1'"),
        ("tokenalpha", "did you mean 'token_alpha'"),
        ("F1(match=fuzzy)", "no match rule 'fuzzy'"),
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
