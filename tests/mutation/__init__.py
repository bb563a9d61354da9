"""Mutation tests: small changes to a module, each of which some test must notice.

``python -m tests.mutation MODULE...`` runs them, see docs/mutation.md. No part of the test suite.
"""
