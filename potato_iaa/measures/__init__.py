"""The measures: figures from counts and coincidences, each defined in docs/measures.md."""
