"""Asks people about the model's answers, and tells how good the model is."""

import time

import numpy as np

QUESTIONS = 5000

truth = []
for number in range(QUESTIONS):
    time.sleep(0.5)  # nobody answers faster
    truth.append(number % 20 == 0)
    print(f"{number + 1} of {QUESTIONS} answers", flush=True)

truth = np.array(truth)
predicted = np.zeros(QUESTIONS, dtype=bool)  # a model that says no to everything
score = np.mean(predicted == truth)
print(f"score: {score:.2f}")
