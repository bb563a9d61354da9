"""Benchmarks: a generator of finished projects, our costs, and those of other packages."""
