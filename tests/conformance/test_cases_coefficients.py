"""The conformance cases and published values of the coefficients beside F1 and token alpha.

Where they stand in a scheme of report.json:

* ``f1``: ``soft_typed``, ``soft(dice)_typed``, ``character_<types>``, ``token_<types>``, shaped
  like every other F1 (``tp`` of the soft ones is a sum of similarities);
* ``token.cohen.<coding>`` and ``token.scott.<coding>``: ``{"mean": estimate, "pairs": [{a, b,
  value, why?}]}``; ``token.fleiss.<coding>``: estimate; codings ``label``, ``io_longest``, ``bio``,
  ``binary``;
* ``unitizing``: ``u_alpha``, ``binary_u_alpha``, ``cu_alpha`` {…, coverage}, ``k_u_alpha.<label>``
  {…, coverage}, always there; ``alpha_u`` {mean_over_items, items: [{item, value, why?, labels}],
  concatenated {value, why?, labels}} on request;
* ``gamma``: ``{"items": [{item, observed_disorder, value, why?}], "mean_over_items": estimate}``.

``measure(corpus, measures=("cohen", "scott", "fleiss", "alpha_u", "gamma"))`` asks for the ones
that are not in the report by default.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest

from potato_iaa.matcher import parse_rule
from tests.conformance.loading import (
    CASE_IDS,
    CODINGS,
    TOKEN_UNITS,
    as_corpus,
    case,
    case_corpus,
    case_figures,
    units_corpus,
    worked,
)
from tests.corpora import (
    TOLERANCE,
    Figures,
    assert_undefined,
    assert_value,
    corpus_of,
    figures_of,
    number,
)

CASES_WITH_BOOTSTRAP = [
    case_id for case_id in CASE_IDS if "bootstrap_over_items_exact" in case(case_id)["expected"]
]
RESAMPLES = 2000


# Other F1s ----------------------------------------------------------------------------------------

SET_F1S = [
    ("soft_iou", "soft", "typed", "whitespace"),
    ("soft_dice", "soft(dice)", "typed", "whitespace"),
    ("char_f1", "character", "typed", "whitespace"),
    ("char_f1", "character", "untyped", "whitespace"),
    ("token_f1", "token", "typed", "whitespace"),
    ("token_f1", "token", "untyped", "whitespace"),
    ("token_f1", "token", "typed", "regex"),
    ("token_f1", "token", "untyped", "regex"),
]


def expected_f1(case_id: str, theirs: str, types: str, unit: str) -> Figures:
    expected: Figures = case(case_id)["expected"]
    if theirs.startswith("soft"):
        found: Figures = expected["f1"][f"{theirs}_{types}"]
    elif theirs == "token_f1":
        found = expected[theirs][unit][types]
    else:
        found = expected[theirs][types]
    return found


@pytest.mark.parametrize(
    ("theirs", "rule", "types", "unit"),
    [pytest.param(*row, id="-".join(row)) for row in SET_F1S],
)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_soft_character_and_token_f1(
    case_id: str, theirs: str, rule: str, types: str, unit: str
) -> None:
    scheme = case_figures(case_id, unit)
    figures = scheme["f1"][f"{parse_rule(rule)}_{types}"]
    expected = expected_f1(case_id, theirs, types, unit)
    for row in figures["pairs"]:
        right = expected["pairs"][f"{row['a']}|{row['b']}"]
        assert row["tp"] == pytest.approx(right["tp"], abs=TOLERANCE)
        assert (row["n_a"], row["n_b"]) == (right["n_a"], right["n_b"])
        assert_value(row, right["f1"])
    assert_value(figures["mean_over_pairs"], expected["macro_pairs"]["value"])
    if "micro_pairs" in expected:
        assert_value(figures["pooled"], expected["micro_pairs"]["value"])
        assert_value(figures["mean_over_items"], expected["macro_items_skip_empty"]["value"])


# Token coefficients -------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", TOKEN_UNITS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_cohen_scott_and_fleiss_in_every_coding(case_id: str, unit: str) -> None:
    token = case_figures(case_id, unit)["token"]
    expected = case(case_id)["expected"]["tokens"][unit]
    for coding, right in expected["cohen"].items():
        ours = token["cohen"][CODINGS[coding]]
        assert_value(ours["mean"], right["mean"]["value"])
        for row in ours["pairs"]:
            assert_value(row, right["pairs"][f"{row['a']}|{row['b']}"]["value"])
    for coding, pairs in expected["scott_pi"].items():
        for row in token["scott"][CODINGS[coding]]["pairs"]:
            assert_value(row, pairs[f"{row['a']}|{row['b']}"]["value"])
    for coding, right in expected["fleiss_complete_items"].items():
        assert_value(token["fleiss"][CODINGS[coding]], right["value"])


def worked_values(kind: str, keys: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(entry, key, id=f"{entry['name']}: {key}")
        for entry in worked("worked_cases")
        if entry["kind"] == kind
        for key in entry["expected"]
        if key.startswith(keys)
    ]


@pytest.mark.parametrize(("entry", "key"), worked_values("units", ("cohen", "scott_pi", "fleiss")))
def test_published_kappas(entry: dict[str, Any], key: str) -> None:
    name = {"cohen": "cohen", "scott_pi": "scott"}.get(key, "fleiss")
    scheme = figures_of(units_corpus(entry["input"]), measures=(name,), token_unit="character")
    ours = scheme["token"][name]["label"]
    right = entry["expected"][key]
    estimate = ours if name == "fleiss" else ours["mean"]
    assert_value(estimate, right["value"], max(right["tol"], 1e-12))


def test_one_constant_annotator_gives_a_kappa_of_exactly_zero() -> None:
    corpus = corpus_of({"d1": {"A": [(0, 1, "X")], "B": []}}, texts={"d1": "a b c d"})
    token = figures_of(corpus, measures=("cohen",))["token"]
    assert token["cohen"]["label"]["mean"]["value"] == 0.0


# Unitizing alphas ---------------------------------------------------------------------------------


def unitizing(scheme: Figures) -> Figures:
    if "unitizing" not in scheme:
        pytest.skip("no unitizing coefficients yet")
    found: Figures = scheme["unitizing"]
    return found


def assert_coefficient(ours: Figures, right: dict[str, Any]) -> None:
    assert_value(ours, right["value"])
    if "overlapping units" in right.get("why", ""):
        assert "overlap" in ours["why"]


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_the_2016_family_pooled_over_items(case_id: str) -> None:
    ours = unitizing(case_figures(case_id))
    expected = case(case_id)["expected"]["family_2016"]
    assert_coefficient(ours["u_alpha"], expected["u_alpha"])
    assert_coefficient(ours["binary_u_alpha"], expected["binary_u_alpha"])
    assert_coefficient(ours["cu_alpha"], expected["cu_alpha"]["pairwise_reading"])
    assert_share(ours["cu_alpha"]["coverage"], expected["cu_coverage"])
    for label, row in ours["k_u_alpha"].items():
        if label in expected["k_u_alpha"]:
            right = expected["k_u_alpha"][label]
            assert_coefficient(row, right["pairwise_reading"])
            assert_share(row["coverage"], right["coverage"])
        else:
            assert_undefined(row)
    assert set(expected["k_u_alpha"]) <= set(ours["k_u_alpha"])


def assert_share(ours: Any, right: float | None) -> None:
    if right is None:
        assert ours is None or ours["value"] is None
    else:
        assert number(ours) == pytest.approx(right, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("entry", "key"),
    worked_values("corpus", ("u_alpha", "binary_u_alpha", "cu_", "k_u_alpha")),
)
def test_published_values_of_the_2016_family(entry: dict[str, Any], key: str) -> None:
    ours = unitizing(figures_of(as_corpus(entry["input"])))
    right = entry["expected"][key]
    name, _, label = key.removesuffix("]").partition("[")
    if name == "cu_coverage":
        assert number(ours["cu_alpha"]["coverage"]) == pytest.approx(right["value"], abs=1e-9)
    else:
        assert_value(ours[name][label] if label else ours[name], right["value"], right["tol"])


def test_overlapping_units_of_one_annotator_leave_the_2016_family_undefined() -> None:
    entry = next(
        entry for entry in worked("worked_cases") if entry["name"] == "Krippendorff 2004 fig.2"
    )
    ours = unitizing(figures_of(as_corpus(entry["input"])))
    for name in ("u_alpha", "binary_u_alpha", "cu_alpha"):
        assert_undefined(ours[name])
        assert "overlap" in ours[name]["why"]


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_alpha_u_of_every_item_their_mean_and_the_concatenation(case_id: str) -> None:
    ours = case_figures(case_id)["unitizing"]["alpha_u"]
    expected = case(case_id)["expected"]["alpha_u_2004"]
    assert_value(ours["mean_over_items"], expected["mean_over_items"]["value"])
    for row in ours["items"]:
        right = expected["items"][row["item"]]
        assert_value(row, right["value"])
        for label, value in right.get("labels", {}).items():
            assert_value(row["labels"][label], value["alpha"])
    joined = expected["concatenated_complete_items"]
    assert_value(ours["concatenated"], joined["value"])
    for label, value in joined.get("labels", {}).items():
        assert_value(ours["concatenated"]["labels"][label], value["alpha"])


@pytest.mark.parametrize(("entry", "key"), worked_values("corpus", ("alpha_u_2004",)))
def test_published_values_of_alpha_u(entry: dict[str, Any], key: str) -> None:
    ours = figures_of(as_corpus(entry["input"]), measures=("alpha_u",))["unitizing"]["alpha_u"]
    right = entry["expected"][key]
    _, _, label = key.removesuffix("]").partition("[")
    estimate = ours["items"][0]["labels"][label] if label else ours["mean_over_items"]
    assert_value(estimate, right["value"], max(right["tol"], 1e-12))


# Gamma --------------------------------------------------------------------------------------------


@cache
def gamma(case_id: str) -> Figures:
    """Gamma in a run of its own: it takes longer than all the rest."""
    figures: Figures = figures_of(case_corpus(case_id), measures=("gamma",))["gamma"]
    return figures


@pytest.mark.parametrize(
    "case_id", [case_id for case_id in CASE_IDS if len(case(case_id)["annotators"]) == 2]
)
def test_the_observed_disorder_of_two_annotators(case_id: str) -> None:
    expected = case(case_id)["expected"]["gamma"]["items"]
    for row in gamma(case_id)["items"]:
        right = expected[row["item"]]["observed_disorder"]
        if right is None:
            assert_undefined({"value": row["observed_disorder"], "why": row["why"]})
        else:
            assert row["observed_disorder"] == pytest.approx(right, abs=1e-5)


@pytest.mark.skipif(find_spec("pygamma_agreement") is None, reason="the extra `gamma` is missing")
@pytest.mark.parametrize(
    "case_id",
    [
        case_id
        for case_id in CASE_IDS
        if any("pygamma" in item for item in case(case_id)["expected"]["gamma"]["items"].values())
    ],
)
def test_gamma_lies_where_thirty_samples_put_it(case_id: str) -> None:
    expected = case(case_id)["expected"]["gamma"]["items"]
    for row in gamma(case_id)["items"]:
        if "pygamma" in expected[row["item"]] and row["value"] is not None:
            low, high = expected[row["item"]]["pygamma"]["statistical"][
                "gamma_range_30_samples_4se"
            ]
            assert low <= row["value"] <= high


# Intervals ----------------------------------------------------------------------------------------


@cache
def resampled(case_id: str) -> Figures:
    return figures_of(case_corpus(case_id), bootstrap=RESAMPLES, seed=20, token_unit="whitespace")


@pytest.mark.parametrize("key", ["f1_exact_typed_macro_pairs", "token_alpha_whitespace_io_longest"])
@pytest.mark.parametrize("case_id", CASES_WITH_BOOTSTRAP)
def test_the_percentile_interval_is_that_of_the_exact_bootstrap_distribution(
    case_id: str, key: str
) -> None:
    scheme = resampled(case_id)
    estimate = {
        "f1_exact_typed_macro_pairs": scheme["f1"]["exact_typed"]["mean_over_pairs"],
        "token_alpha_whitespace_io_longest": scheme["token"]["alpha_io_longest"],
    }[key]
    exact = case(case_id)["expected"]["bootstrap_over_items_exact"][key]["summary"]
    if exact is None:
        assert estimate["low"] is None
        assert estimate["high"] is None
        return
    assert exact["min"] - TOLERANCE <= estimate["low"] <= estimate["high"]
    assert estimate["high"] <= exact["max"] + TOLERANCE
    # Where no jump of the distribution lies within four standard errors of the quantile, the
    # resamples give it exactly.
    reach = 4 * (0.025 * 0.975 / RESAMPLES) ** 0.5
    for side, quantile in (("low", "q025"), ("high", "q975")):
        if exact[f"{quantile}_distance_to_jump"] > reach:
            assert estimate[side] == pytest.approx(exact[quantile], abs=TOLERANCE)
