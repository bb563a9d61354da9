"""Settings of all tests: no deadlines, for a busy machine is no fault of the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("potato_iaa", deadline=None)
settings.load_profile("potato_iaa")
