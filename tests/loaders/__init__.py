"""Tests of the loaders: projects on disk, read into a corpus."""
