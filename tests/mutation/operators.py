"""Mutants of a module: its source with one small change each, in a fixed order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial

# Changed each into the others.
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {
    "minimum": "maximum",
    "maximum": "minimum",
    "min": "max",
    "max": "min",
    "floor": "ceil",
    "any": "all",
    "all": "any",
    "argmax": "argmin",
    "sorted": "list",
    "zeros": "ones",
    "ones": "zeros",
    "cumsum": "sort",
    "fullmatch": "match",
}
# What says of what kind an array is, and what is an assertion, changes nothing that is measured.
KEPT_KEYWORDS = frozenset({"dtype", "strict"})


@dataclass(frozen=True)
class Mutant:
    """One changed source; ``number`` stays with the change as long as the module does."""

    number: int
    line: int
    change: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of ``source``.

    Left as they are: annotations, decorators, docstrings, imports, and what is raised.

    >>> [mutant.change for mutant in mutants("a = b + 1")]
    ['a = b + 1 -> a = None', 'b + 1 -> b - 1', '1 -> 2']
    """
    tree = ast.parse(source)
    for number, change in enumerate(_changes(tree)):
        old, line = ast.unparse(change.old), getattr(change.old, "lineno", 0)
        change.put(change.new)
        changed = ast.unparse(ast.fix_missing_locations(tree))
        change.put(change.old)
        new = ast.unparse(ast.fix_missing_locations(change.new))
        told = " -> ".join(text.partition("\n")[0] for text in (old, new))
        yield Mutant(number, line, told, changed)


@dataclass(frozen=True)
class _Change:
    old: ast.AST
    new: ast.AST
    put: Callable[[ast.AST], None]


def _changes(node: ast.AST) -> Iterator[_Change]:
    for field, value in ast.iter_fields(node):
        if _is_kept(node, field):
            continue
        if isinstance(value, ast.AST):
            put = partial(setattr, node, field)
            yield from (_Change(value, new, put) for new in _variants(value, node))
            yield from _changes(value)
        elif isinstance(value, list):
            for place, one in enumerate(value):
                if isinstance(one, ast.AST) and not _is_docstring(one):
                    put = partial(value.__setitem__, place)
                    yield from (_Change(one, new, put) for new in _variants(one, node))
                    yield from _changes(one)


def _is_kept(node: ast.AST, field: str) -> bool:
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.keyword) and node.arg in KEPT_KEYWORDS:
        return True
    return field in ("annotation", "returns", "decorator_list", "bases", "ctx", "type_params")


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _variants(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:
    """What one node can become, without regard to what is inside it."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=comparators):
            for other in COMPARISONS[type(operator)]:
                yield ast.Compare(left, [other()], comparators)
        case ast.Compare(left=left, ops=operators, comparators=comparators):
            for place, operator in enumerate(operators):
                for other in COMPARISONS[type(operator)]:
                    changed = [*operators[:place], other(), *operators[place + 1 :]]
                    yield ast.Compare(left, changed, comparators)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.AugAssign(target=target, op=operator, value=value):
            yield ast.AugAssign(target, ARITHMETIC[type(operator)](), value)
            yield ast.Pass()
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.BoolOp(op=ast.And(), values=values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield ast.BoolOp(ast.And(), values)
        case ast.IfExp(body=body, orelse=orelse):
            yield body
            yield orelse
        case ast.If(body=body, orelse=orelse):
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.Assign(targets=targets, value=value) if not isinstance(value, ast.Constant):
            yield ast.Assign(targets, ast.Constant(None), lineno=node.lineno)
        case ast.Return(value=value) if not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Break():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
            yield ast.Pass()
        case ast.Call(func=function, args=args, keywords=keywords):
            for place, keyword in enumerate(keywords):
                if keyword.arg not in KEPT_KEYWORDS:
                    fewer = keywords[:place] + keywords[place + 1 :]
                    yield ast.Call(function, args, fewer)
        case ast.Slice(lower=lower, upper=upper, step=step):
            if lower is not None:
                yield ast.Slice(None, upper, step)
            if upper is not None:
                yield ast.Slice(lower, None, step)
        case ast.Attribute(value=value, attr=name) if isinstance(parent, ast.Call):
            if node is parent.func and name in NAMES:
                yield ast.Attribute(value, NAMES[name], node.ctx)
        case ast.Name(id=name) if isinstance(parent, ast.Call):
            if node is parent.func and name in NAMES:
                yield ast.Name(NAMES[name], node.ctx)
        case ast.Constant(value=value):
            yield from _constants(value)
        case ast.JoinedStr(values=values):
            if any(isinstance(part, ast.Constant) for part in values):
                kept = [part for part in values if not isinstance(part, ast.Constant)]
                yield ast.JoinedStr(deepcopy(kept))
        case _:
            pass


def _constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
        if value not in (0, 1):
            yield ast.Constant(value - 1)
    elif isinstance(value, str):
        yield ast.Constant(f"{value}XX")


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
