"""The options of the command line on what is read, and as whose; one set for all commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from potato_iaa.errors import UsageError

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
    bool, typer.Option("--trim", help="Take blanks off the ends of spans; both F1s are told.")
]
AllowOutside = Annotated[
    bool,
    typer.Option("--allow-outside", help="Read files that lie outside the project's folders, too."),
]
Pseudonyms = Annotated[
    bool, typer.Option("--pseudonyms", help="Replace annotators' names everywhere.")
]


def wishes(
    *,
    config: str | None,
    potato_version: str | None,
    offset_unit: str | None,
    include_annotators: Sequence[str] | None,
    exclude_annotators: Sequence[str] | None,
    include_items: Sequence[str] | None,
    exclude_items: Sequence[str] | None,
    merge: Sequence[str] | None,
    roles: Sequence[str] | None,
    trim: bool,
    allow_outside: bool,
) -> dict[str, Any]:
    """The options as `read_project` takes them; raises UsageError for a pair that is none."""
    return {
        "config": config,
        "potato_version": potato_version,
        "offset_unit": offset_unit,
        "include_annotators": include_annotators or None,
        "exclude_annotators": exclude_annotators or (),
        "include_items": include_items or None,
        "exclude_items": exclude_items or (),
        "merge": pairs(merge, "--merge"),
        "roles": pairs(roles, "--role"),
        "trim": trim,
        "allow_outside": allow_outside,
    }


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
