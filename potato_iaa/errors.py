"""The errors a user can meet: one sentence with the file, the place, the fault, the remedy."""

from __future__ import annotations


class PotatoIAAError(Exception):
    """Base of every error raised on purpose; the command line exits with 2 on it."""


class UsageError(PotatoIAAError):
    """An option, a rule or an argument that does not exist or does not fit the others."""


class InputError(PotatoIAAError):
    """A file, a folder or a table that cannot be read as what it should be."""


class AuditError(PotatoIAAError):
    """Our coefficient and the independent package's differ: a bug, never the user's fault."""
