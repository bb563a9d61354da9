"""Synthetic corpora of any size: crowds of annotators, many labels, many items."""

from __future__ import annotations

import numpy as np

from potato_iaa import Corpus

WORDS = ("river", "town", "market", "lamp", "garden", "winter", "letter", "bridge", "copper")


def crowd(
    *,
    annotators: int = 200,
    items: int = 200,
    per_item: int = 6,
    labels: int = 60,
    spans: int = 4,
    words: int = 30,
    seed: int = 0,
) -> Corpus:
    """Items with true spans, which some of the annotators find, cut and name as well as they can.

    Everybody misses some, takes one word more, or errs in the label; the first of them most often.
    """
    generator = np.random.default_rng(seed)
    texts, passes, marked = [], [], []
    for number in range(items):
        item = f"item-{number:05}"
        chosen = [WORDS[code] for code in generator.integers(len(WORDS), size=words)]
        start = np.cumsum([0, *(len(word) + 1 for word in chosen)])[:-1]
        texts.append((item, " ".join(chosen)))
        first = generator.choice(words - 1, size=spans, replace=False)
        true = list(zip(first.tolist(), generator.integers(labels, size=spans), strict=True))
        others = generator.choice(annotators, size=per_item, replace=False).tolist()
        # Everybody has an item as soon as there are as many items as annotators.
        for code in [*({number % annotators} - set(others)), *others][:per_item]:
            name = f"annotator-{code:03}"
            passes.append((item, name))
            for word, label in true:
                if generator.random() > 0.6 + 0.4 * code / annotators:
                    continue
                last = word + int(generator.random() < 0.2)
                said = label if generator.random() < 0.9 else generator.integers(labels)
                end = int(start[last]) + len(chosen[last])
                marked.append((item, name, int(start[word]), end, f"label-{said:02}"))
    return Corpus.from_tables(items=texts, passes=passes, spans=marked, name="A crowd")
