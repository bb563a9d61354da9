"""The options that commands share: on what is read, and on how it is measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from potato_iaa.errors import UsageError

Command = Callable[..., None]

Project = Annotated[
    str,
    typer.Argument(
        metavar="PROJECT", help="Potato's configuration, a folder with exactly one, or an export."
    ),
]
Schemes = Annotated[
    list[str] | None,
    typer.Option("--scheme", metavar="NAME", help="A span scheme; repeatable. Default: all."),
]
Passes = Annotated[
    str,
    typer.Option(
        "--passes",
        metavar="seen|assigned|marked",
        help="Which items count as passed through by an annotator who marked nothing on them.",
    ),
]
SkipBroken = Annotated[
    bool,
    typer.Option("--skip-broken", help="Go on without annotators whose files cannot be read."),
]
Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="The configuration that an export belongs to."),
]
PotatoVersion = Annotated[
    str | None,
    typer.Option(
        "--potato-version",
        metavar="X.Y",
        help="The Potato that wrote the annotations, instead of what the files tell.",
    ),
]
OffsetUnit = Annotated[
    str | None,
    typer.Option(
        "--offset-unit",
        metavar="code-points|utf-16",
        help="What the stored offsets count, instead of what the files tell.",
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        "--include-annotators",
        metavar="PATTERN",
        help="Read only these annotators; repeatable, * and ? stand for anything.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        "--exclude-annotators",
        metavar="PATTERN",
        help="Leave these annotators out; repeatable.",
    ),
]
IncludeItems = Annotated[
    list[str] | None,
    typer.Option("--include-items", metavar="PATTERN", help="Read only these items; repeatable."),
]
ExcludeItems = Annotated[
    list[str] | None,
    typer.Option("--exclude-items", metavar="PATTERN", help="Leave these items out; repeatable."),
]
Merge = Annotated[
    list[str] | None,
    typer.Option(
        "--merge",
        metavar="OLD=NEW",
        help="Read the login or folder OLD as the person NEW; repeatable.",
    ),
]
Role = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="NAME=ROLE",
        help="Make an annotator human, system or gold; repeatable, NAME may be a pattern.",
    ),
]
Trim = Annotated[
    bool, typer.Option("--trim", help="Take blanks off the ends of spans; a report tells both F1s.")
]
AllowOutside = Annotated[
    bool,
    typer.Option("--allow-outside", help="Read files that lie outside the project's folders, too."),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="RULE",
        help="A match rule beside exact and overlap; repeatable: overlap(iou>=T), "
        "overlap(dice>=T), overlap(containment>=T), terms, soft, soft(dice), character, token.",
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="A coefficient made on request; repeatable: cohen, scott, fleiss, alpha_u, gamma.",
    ),
]
TokenUnit = Annotated[
    str,
    typer.Option(
        "--token-unit",
        metavar="word|whitespace|character|regex",
        help="What token alpha counts; regex stands for \\w+|[^\\w\\s].",
    ),
]
BothEmpty = Annotated[
    str,
    typer.Option(
        "--both-empty",
        metavar="skip|agree",
        help="In means over items, leave out items that both left empty, or count them as 1.",
    ),
]
MinSharedItems = Annotated[
    int,
    typer.Option(
        "--min-shared-items",
        metavar="N",
        help="Leave pairs that share fewer items out of the mean over pairs.",
    ),
]
Bootstrap = Annotated[
    int, typer.Option("--bootstrap", metavar="N", help="Resamples for intervals; 0 for none.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the bootstrap.")]
Pseudonyms = Annotated[
    bool, typer.Option("--pseudonyms", help="Replace annotators' names everywhere.")
]


def reading(
    *,
    passes: Passes = "seen",
    skip_broken: SkipBroken = False,
    config: Config = None,
    potato_version: PotatoVersion = None,
    offset_unit: OffsetUnit = None,
    include: Include = None,
    exclude: Exclude = None,
    include_items: IncludeItems = None,
    exclude_items: ExcludeItems = None,
    merge: Merge = None,
    role: Role = None,
    trim: Trim = False,
    allow_outside: AllowOutside = False,
) -> dict[str, Any]:
    """The options as `read_project` takes them; raises UsageError for a pair that is none."""
    return {
        "passes": passes,
        "skip_broken": skip_broken,
        "config": config,
        "potato_version": potato_version,
        "offset_unit": offset_unit,
        "include_annotators": include or None,
        "exclude_annotators": exclude or (),
        "include_items": include_items or None,
        "exclude_items": exclude_items or (),
        "merge": pairs(merge, "--merge"),
        "roles": pairs(role, "--role"),
        "trim": trim,
        "allow_outside": allow_outside,
    }


def measuring(
    *,
    rule: Rules = None,
    measure: Measures = None,
    token_unit: TokenUnit = "word",
    both_empty: BothEmpty = "skip",
    min_shared_items: MinSharedItems = 1,
    bootstrap: Bootstrap = 1000,
    seed: Seed = 0,
) -> dict[str, Any]:
    """The options as `measure` takes them."""
    return {
        "rules": tuple(rule or ()),
        "measures": tuple(measure or ()),
        "token_unit": token_unit,
        "both_empty": both_empty,
        "min_shared_items": min_shared_items,
        "bootstrap": bootstrap,
        "seed": seed,
    }


def sharing(**shared: Callable[..., Any]) -> Callable[[Command], Command]:
    """Gives a command the options of others, as in ``wanted=reading``.

    In the place of each of these parameters the command takes what ``reading`` takes, and is called
    with what ``reading`` makes of it.

    >>> @sharing(chosen=measuring)
    ... def show(project: str, chosen: dict[str, Any], out: str = "x") -> None:
    ...     print(project, chosen["seed"], out)
    >>> ", ".join(inspect.signature(show).parameters)
    'project, rule, measure, token_unit, both_empty, min_shared_items, bootstrap, seed, out'
    >>> show(project="p", seed=3)
    p 3 x
    """
    options = {name: inspect.signature(make, eval_str=True) for name, make in shared.items()}

    def shares(command: Command) -> Command:
        @wraps(command)
        def run(**given: Any) -> None:
            for name, make in shared.items():
                asked = given.keys() & options[name].parameters.keys()
                given[name] = make(**{key: given.pop(key) for key in asked})
            command(**given)

        taken: list[inspect.Parameter] = []
        for name, own in inspect.signature(command, eval_str=True).parameters.items():
            taken += options[name].parameters.values() if name in shared else [own]
        # By keyword, they may stand in any order, with a default or without one.
        taken = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in taken]
        vars(run)["__signature__"] = inspect.Signature(taken)
        run.__annotations__ = {one.name: one.annotation for one in taken}
        return run

    return shares


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """The sides of ``LEFT=RIGHT`` for every value of an option, split at the last ``=``.

    >>> pairs(["a=b", "x=y=z"], "--merge")
    {'a': 'b', 'x=y': 'z'}
    """
    found = {}
    for value in given or ():
        left, equals, right = value.rpartition("=")
        if not equals or not left.strip() or not right.strip():
            raise UsageError(f"{option}: write {value!r} as two names with = between them.")
        found[left.strip()] = right.strip()
    return found
