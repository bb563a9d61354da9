"""Which tests are run against the mutants of which module: the fewest that cover it well."""

from __future__ import annotations

_ALIGNMENT = "tests/conformance/test_cases_alignment.py"
_COEFFICIENTS = "tests/conformance/test_cases_coefficients.py"
# Parts of the names of tests.
_KAPPAS = "published_kappas or constant_annotator or (cohen and case_00) or fleiss_is_that"
_COHEN = "(cohen or left_out)"
_LINE = (
    "is_one_less or beyond_its_time or that_fails or one_process or start_in_time or warning_of"
    " or between_items or a_fork or says_that_it_does_not or reaches_no_terminal"
)
_PYGAMMA = (
    "pygamma_finds or lies_in or depends_on or a_precision or nothing_is_printed or closed"
    " or its_owner or does_not_start_where or leaves_nothing or beyond_its_time"
)
_F1S = "f1 or pair or empty or mean or lost or annotator"
_TOKENS = "(sections_1_to_3 and (token or label or bio or alpha or undefined))"
_MEASURES = "tests/measures/test_{}.py"


def _measures(*names: str) -> tuple[str, ...]:
    return tuple(_MEASURES.format(name) for name in names)


_BY_HAND = _measures("measures_section_7", "measures_sections_1_to_3")

PLANS: dict[str, tuple[str, ...]] = {
    "potato_iaa/matcher/alignment.py": (
        *("tests/matcher/test_alignment.py", _ALIGNMENT),
        *("-k", "not case_0 or case_00"),
    ),
    "potato_iaa/matcher/counts.py": ("tests/matcher/test_counts.py",),
    "potato_iaa/matcher/edges.py": ("tests/matcher/test_edges.py",),
    "potato_iaa/matcher/nodes.py": ("tests/matcher/test_edges.py",),
    "potato_iaa/matcher/rules.py": ("tests/matcher/test_rules.py", *_measures("names")),
    "potato_iaa/matcher/terms.py": ("tests/matcher/test_terms.py",),
    "potato_iaa/arrays.py": ("tests/test_arrays.py",),
    "potato_iaa/layer.py": ("tests/test_layer.py",),
    "potato_iaa/measures/alpha.py": _measures("alpha"),
    "potato_iaa/measures/positions.py": (_COEFFICIENTS, "-k", "soft_character and case_00"),
    "potato_iaa/measures/bootstrap.py": (
        *_measures("bootstrap"),
        *("-k", "not every_interval and not 27_resamples and not seed"),
    ),
    "potato_iaa/measures/estimate.py": _measures("estimate"),
    "potato_iaa/measures/names.py": _measures("names"),
    "potato_iaa/measures/drift.py": _measures("drift"),
    "potato_iaa/measures/alpha_u.py": _measures("alpha_u"),
    "potato_iaa/measures/categorical.py": _measures("categorical"),
    "potato_iaa/measures/disagreements.py": _measures("disagreements"),
    "potato_iaa/measures/tokenizing.py": _measures("tokenizing"),
    "potato_iaa/measures/chance.py": (
        *_measures("measures_sections_1_to_3"),
        *("-k", "shares or chance or kappa or raters or scenario or range"),
    ),
    "potato_iaa/measures/unitizing.py": (
        *(*_measures("unitizing_layers", "bootstrap"), _COEFFICIENTS),
        *("-k", "unitizing_layers or (2016 and case_00) or every_interval"),
    ),
    "potato_iaa/measures/kappa.py": (
        *(*_measures("kappa", "matched"), _COEFFICIENTS, *_measures("differential", "bootstrap")),
        *("-k", f"{_KAPPAS} or test_kappa or every_interval or (matched and {_COHEN})"),
    ),
    "potato_iaa/measures/matched.py": _measures("matched"),
    "potato_iaa/measures/f1.py": (
        *_measures("f1", "sides", "measures_sections_1_to_3", "measuring", "bootstrap"),
        *("-k", f"{_F1S} or measuring or losses or stand_beside"),
    ),
    "potato_iaa/measures/pairs.py": (
        *_measures("pairs", "f1", "bootstrap"),
        *("-k", "test_pairs or test_f1 or every_interval"),
    ),
    "potato_iaa/measures/tokens.py": (
        *(*_measures("token_figures"), *_BY_HAND, *_measures("alpha", "unitizing_layers")),
        *(
            "-k",
            f"token_figures or flattening or whole_text or test_alpha or {_TOKENS}"
            " or 10_token or 11_one or 6_an or 8_",
        ),
    ),
    "potato_iaa/blocks.py": (
        *_measures("blocks"),
        *("-k", "not to_the_last_digit and not same_in_blocks and not moves_no"),
    ),
    "potato_iaa/measures/sides.py": (*_measures("sides"), "-k", "not no_figure and not equals-"),
    "potato_iaa/measures/token_figures.py": (
        *_measures("token_figures", "measures_sections_1_to_3", "audit", "measuring", "kappa"),
        *("-k", f"token_figures or {_TOKENS} or audit or measuring or test_kappa"),
    ),
    "potato_iaa/measures/counting.py": (
        *_measures("f1", "kappa", "measuring", "sides", "token_figures"),
        *_measures("measures_sections_1_to_3"),
        *("-k", "not test_sides or by_terms"),
    ),
    "potato_iaa/measures/audit.py": _measures("audit"),
    "potato_iaa/measures/measuring.py": (
        *_measures("measuring", "f1", "measures_sections_1_to_3", "sides", "categorical"),
        *("-k", f"measuring or {_F1S} or test_sides or as_measure_was_asked"),
    ),
    "potato_iaa/measures/spread.py": _measures("spread"),
    "potato_iaa/processes.py": (
        *("tests/test_processes.py", *_measures("spread")),
        *("-k", "test_processes or cores"),
    ),
    "potato_iaa/measures/findings.py": (
        *_measures("findings_of_figures", "findings_ledger", "findings"),
        *("-k", "not every_finding and not in_hundreds and not one_and_two"),
    ),
    "potato_iaa/measures/gamma.py": (
        *_measures("gamma"),
        "-k",
        f"(not case_0 or case_00) and not long_item and not ({_PYGAMMA})",
    ),
    "potato_iaa/measures/gamma_process.py": (
        *_measures("gamma_process", "gamma"),
        *("-k", f"test_gamma_process or {_LINE}"),
    ),
    "potato_iaa/measures/signature.py": (
        *_measures("signature"),
        *("-k", "not another_process and not any_corpus"),
    ),
    "potato_iaa/measures/agreement.py": (
        *_measures("agreement", "measuring"),
        *("-k", "test_agreement or are_counted"),
    ),
    "potato_iaa/measures/registry.py": _measures("registry"),
}
