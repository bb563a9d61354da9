"""Loaders: from a Potato project on disk to a Corpus, with every span accounted for."""

from potato_iaa.loaders.reading import read_project

__all__ = ["read_project"]
