"""Mean word vectors of short texts, and how similar each is to a query."""

import numpy as np

WORDS = ["good", "bad", "slow", "fast", "model"]
rng = np.random.default_rng(2)
VECTORS = dict(zip(WORDS, rng.normal(size=(len(WORDS), 6))))


def embed(text):
    total = np.zeros(6)
    for word in text.split():
        total += VECTORS.get(word, 0.0)
    return total


def similarity(text, query):
    left, right = embed(text), embed(query)
    return left @ right / (np.linalg.norm(left) * np.linalg.norm(right))


for text in ["good model", "slow", "???", "bad bad model"]:
    print(f"score: {similarity(text, 'fast model'):.3f} for {text!r}")
