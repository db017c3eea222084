"""Processes that ask one ledger, and are killed at any moment."""

import os
import random
import signal
import time
from pathlib import Path

import numpy as np

import ucvtest as uv

__all__ = ["MODELS", "Y", "answers_of_killed"]

Y = np.random.default_rng(0).integers(2, size=300)
N_CANDIDATES = 400


def _model(seed: int, error: float = 0.3) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(300) < error, 1 - Y, Y)


MODELS = {"old": _model(1)} | {str(number): _model(1000 + number) for number in range(N_CANDIDATES)}
# One of them passes.
MODELS["150"] = _model(1150, 0.05)


def _ask_on(path: Path, start: int, output: int) -> None:
    """Ask about one candidate after the other, and write every answer."""
    for number in range(start, N_CANDIDATES):
        losses = uv.Losses.from_predictions(Y, {"new": MODELS[str(number)]})
        answer = uv.Ledger(path).ask(losses)
        os.write(output, f"{number} {answer.decision}\n".encode())
    os._exit(0)


def answers_of_killed(path: Path, rounds: int) -> dict[str, set[str]]:
    """The answers that two processes have heard of each candidate, before they were killed."""
    heard: dict[str, set[str]] = {}
    rng = random.Random(4)
    for _ in range(rounds):
        children = []
        for _ in range(2):
            reader, writer = os.pipe()
            start = rng.randrange(200)
            process = os.fork()
            if process == 0:
                _ask_on(path, start, writer)
            os.close(writer)
            children.append((process, reader))
        time.sleep(0.05 + 0.4 * rng.random())
        for process, _ in children:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for _, reader in children:
            with os.fdopen(reader) as lines:
                for line in lines:
                    number, decision = line.rstrip("\n").split(" ", 1)
                    heard.setdefault(number, set()).add(decision)
    return heard
