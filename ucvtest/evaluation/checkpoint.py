"""What a call has finished, kept in a file to go on from.

The file is JSON, one object a line: first the question, then predictions of some fits at a
time of learners that are fitted one by one, finished results, and numbers that the clock decided,
appended as whole lines, each with the check sum of all up to it. A last line that was cut short, as
by a power failure, is left out; any other change is refused. One call at a time writes. Each fit is
known by what decides it: the learner's name, its learning and test set, its seed and labels.
"""

import base64
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.exceptions import UNUSABLE
from ucvtest.common.file_lock import FileLock, InUseError
from ucvtest.common.fingerprint import fingerprint
from ucvtest.common.whole_files import write_whole
from ucvtest.data.output import Output
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.learners.base import Learner

MOST_BYTES = 2**29
"""Memory that predictions may take: half a gigabyte. Fits beyond it are done again."""


class KnownFits:
    """Predictions of learners that are fitted one by one.

    Each fit is known by the learner, its learning and test set, its seed and labels.
    """

    def __init__(self) -> None:
        self._values: dict[str, np.ndarray] = {}
        self._learners: list[Learner] = []
        self._n_bytes = 0

    def fill_known(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> np.ndarray:
        """Write the predictions that are known, and return the numbers of the other fits."""
        missing = []
        for row, key in enumerate(self._keys(learner, output, fits)):
            saved_predictions = self._values.get(key)
            if saved_predictions is None:
                missing.append(row)
                continue
            tested = values[row][fits.testing[row]]
            values[row, fits.testing[row]] = saved_predictions.reshape(tested.shape)
        return np.array(missing, dtype=int)

    def add_predictions(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> None:
        """Keep the predictions of some fits, while there is room."""
        tested = [values[row][fits.testing[row]].ravel() for row in range(len(fits))]
        self._n_bytes += sum(tested_predictions.nbytes for tested_predictions in tested)
        if self._n_bytes <= MOST_BYTES:
            self._values.update(zip(self._keys(learner, output, fits), tested, strict=True))

    def _name(self, learner: Learner) -> str:
        """What tells learners apart: two may call themselves the same."""
        for learner_index, known_learner in enumerate(self._learners):
            if known_learner is learner:
                return str(learner_index)
        self._learners.append(learner)
        return str(len(self._learners) - 1)

    def _keys(self, learner: Learner, output: Output, fits: FitRequests) -> Iterator[str]:
        name = self._name(learner)
        for row in range(len(fits)):
            digest = blake2b(f"{name}\0{output}\0{fits.seeds[row]}".encode(), digest_size=16)
            learning = fits.learning if fits.common else fits.learning[row]
            for members in (learning, fits.testing[row]):
                digest.update(len(members).to_bytes(8, "little"))
                digest.update(np.packbits(members).tobytes())
            if fits.labels is not None:
                digest.update(np.ascontiguousarray(fits.labels[row], dtype="<f8").tobytes())
            yield digest.hexdigest()


FORMAT = "ucvtest.checkpoint"
FORMAT_VERSION = 1

SEAL, SUM_DIGITS, BEHIND_SUM = b'{"sum": "', 16, b'", '
"""How every line begins."""

PACKAGES = ("ucvtest", "numpy", "scikit-learn")
"""Packages of which another version may predict otherwise."""


class Checkpoint(KnownFits):
    """A file with predictions of one call, and what the call was asked.

    Nothing is written before there is something to keep, so that a call that is refused leaves no
    file.
    """

    def __init__(self, path: Path, lines: list[dict[str, Any]], n_bytes: int, n_read: int) -> None:
        super().__init__()
        self.path = path
        self._header = lines[0] if lines else None
        self._n_bytes, self._n_read = n_bytes, n_read
        self._sum = lines[-1]["sum"] if lines else ""
        self._lock = FileLock(path)
        self._decided: dict[str, int] = {}
        self._results: dict[str, Any] = {}
        self._question: dict[str, Any] = {}
        self._names: list[tuple[Learner, str]] = []
        self._seed: int | None = None
        self._begun = False
        for line in lines[1:]:
            if "decided" in line:
                self._decided[line["decided"]] = int(line["value"])
            elif "result" in line:
                self._results[line["result"]] = line["value"]
            else:
                self._values.update(_unpacked(line))

    @classmethod
    def open(cls, path: Any) -> Self:
        """Read a file, if there is one, before anything is fitted.

        Raises
        ------
        ValueError
            If the name is none, its folder does not exist, or the file is another one.
        """
        if not isinstance(path, (str, PathLike)):
            raise ValueError(f"checkpoint must be the name of a file, got {path!r:.60}")
        path = Path(path)
        if not path.exists():
            if not path.absolute().parent.is_dir():
                raise ValueError(f"checkpoint {path}: the folder {path.parent} does not exist")
            return cls(path, [], 0, 0)
        if path.is_dir():
            raise ValueError(f"checkpoint {path} is a folder: name a file")
        try:
            return cls(path, *_read(path))
        except (*UNUSABLE, zlib.error) as error:
            raise ValueError(
                f"checkpoint {path} is not a checkpoint of this ucvtest ({error}): name another "
                "file"
            ) from error

    def seed(self, rng: Any) -> Any:
        """The seed to go on with where none is named; otherwise the one that is."""
        return self._header["seed"] if rng is None and self._header is not None else rng

    def begin(
        self, question: Mapping[str, Any], learners: Mapping[str, Learner], seed: int
    ) -> None:
        """Give the question; predictions of another call are refused.

        Raises
        ------
        ValueError
            If the file is of another call, with what differs.
        """
        self._names = [(learner, name) for name, learner in learners.items()]
        self._seed = seed
        described = {"learners": list(learners.items()), **question, "rng": seed}
        self._question = {}
        for name, value in described.items():
            # What can be read is kept as it is, everything else by what it is.
            readable = value is None or isinstance(value, (bool, str)) or is_integer(value)
            self._question[name] = value if readable else {"digest": fingerprint(value)}
        for name in PACKAGES:
            self._question[f"version of {name}"] = None
            with suppress(PackageNotFoundError):
                self._question[f"version of {name}"] = version(name)
        if self._header is not None:
            self._refuse_another_call(self._header["asked"])
        self._take()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._lock.release()

    def _take(self) -> None:
        """Be the one call that writes; another may have written since the file was read."""
        try:
            self._lock.acquire()
        except InUseError:
            raise ValueError(
                f"checkpoint {self.path} is being written by another call: wait for its end, or "
                "name another file"
            ) from None
        except OSError as error:
            raise ValueError(
                f"checkpoint {self.path} cannot be written ({error}): name a file in a folder of "
                "your own"
            ) from error
        size = self.path.stat().st_size if self.path.exists() else 0
        if size != self._n_read:
            self._lock.release()
            raise ValueError(
                f"checkpoint {self.path} has just been written by another call: call again, to go "
                "on from there"
            )

    def _refuse_another_call(self, saved_question: Mapping[str, Any]) -> None:
        differences = []
        for name in {**saved_question, **self._question}:
            saved_value, asked_value = saved_question.get(name), self._question.get(name)
            if saved_value == asked_value:
                continue
            if isinstance(saved_value, dict) or isinstance(asked_value, dict):
                differences.append(f"{name} differs")
            else:
                differences.append(f"{name} was {saved_value!r:.60}, now {asked_value!r:.60}")
        if differences:
            raise ValueError(
                f"checkpoint {self.path} is of another call: {'; '.join(differences)}. Pass the "
                "same arguments, or name another file"
            )

    def recall_or_decide(self, name: str, decide: Callable[[], int]) -> int:
        """A number that was decided by the clock: the one of the first call."""
        if name not in self._decided:
            self._decided[name] = decide()
            self._append({"decided": name, "value": self._decided[name]})
        return self._decided[name]

    def result(self, key: Sequence[str]) -> Any:
        """A finished result as JSON has it; None if there is none."""
        return self._results.get(json.dumps(key))

    def keep_result(self, key: Sequence[str], value: Mapping[str, Any]) -> None:
        """Keep a finished result, which `result` then knows."""
        self._append({"result": json.dumps(key), "value": value})

    def add_predictions(
        self, values: np.ndarray, learner: Learner, output: Output, fits: FitRequests
    ) -> None:
        """Keep the predictions of some fits."""
        keys = list(self._keys(learner, output, fits))
        tested = [values[row][fits.testing[row]].ravel() for row in range(len(fits))]
        self._values.update(zip(keys, tested, strict=True))
        packed = zlib.compress(np.concatenate(tested).astype("<f8").tobytes())
        self._append(
            {
                "fits": keys,
                "sizes": [len(rows_of_fit) for rows_of_fit in tested],
                "values": base64.b64encode(packed).decode("ascii"),
            }
        )

    def _name(self, learner: Learner) -> str:
        """The name that the user gave, which another call knows too."""
        return next(
            (name for named_learner, name in self._names if named_learner is learner), learner.name
        )

    def _sealed(self, line: Mapping[str, Any]) -> bytes:
        """The next line, with the check sum of it and of all before it."""
        body = json.dumps(line, allow_nan=False).encode()
        self._sum = _sum_of(body, self._sum)
        return SEAL + self._sum.encode() + BEHIND_SUM + body[1:] + b"\n"

    def _append(self, line: Mapping[str, Any]) -> None:
        """Write a line at the end, and have it on the disk when this returns."""
        if self._header is None:
            # The first line of a new file.
            header = {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "seed": self._seed,
                "asked": self._question,
            }
            write_whole(self.path, self._sealed(header))
            self._header = header
        elif not self._begun:
            # The rest of a line that was cut short.
            os.truncate(self.path, self._n_bytes)
        self._begun = True
        with self.path.open("ab") as file:
            file.write(self._sealed(line))
            file.flush()
            os.fsync(file.fileno())


def open_checkpoint(checkpoint: Any, rng: Any) -> Checkpoint:
    """The checkpoint; a generator, whose seed is not known, could not be repeated."""
    if isinstance(rng, np.random.Generator):
        raise ValueError(
            "checkpoint keeps the seed, but a Generator does not have one: pass an integer"
        )
    return Checkpoint.open(checkpoint)


def _sum_of(body: bytes, previous_sum: str) -> str:
    return blake2b(previous_sum.encode() + body, digest_size=SUM_DIGITS // 2).hexdigest()


def _read(path: Path) -> tuple[list[dict[str, Any]], int, int]:
    """The whole lines of a file, how many bytes they have, and how many there are."""
    lines: list[dict[str, Any]] = []
    n_bytes = n_read = 0
    check_sum, digits = "", slice(len(SEAL), len(SEAL) + SUM_DIGITS)
    with path.open("rb") as file:
        for raw in file:
            n_read += len(raw)
            if not raw.endswith(b"\n"):
                continue
            lines.append(json.loads(raw))
            n_bytes += len(raw)
            header = lines[0]
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise ValueError("its first line is another one")
            if header["version"] != FORMAT_VERSION:
                raise ValueError(
                    f"its format has version {header['version']}, not {FORMAT_VERSION}"
                )
            if not isinstance(header["asked"], dict) or not is_integer(header["seed"]):
                raise ValueError("its first line is incomplete")
            # Each line is the one that was written, and in its place.
            check_sum = _sum_of(b"{" + raw[digits.stop + len(BEHIND_SUM) : -1], check_sum)
            if not raw.startswith(SEAL) or raw[digits].decode() != check_sum:
                raise ValueError(
                    f"line {len(lines)} does not have its check sum: it was changed after it was "
                    "written"
                )
    if not lines:
        raise ValueError("it has no first line")
    return lines, n_bytes, n_read


def _unpacked(line: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Predictions by fit; no more memory is taken than the sizes say."""
    fit_ends = np.cumsum([0, *line["sizes"]])
    data = zlib.decompressobj().decompress(
        base64.b64decode(line["values"]), 8 * int(fit_ends[-1]) + 1
    )
    values = np.frombuffer(data, "<f8")
    if len(values) != fit_ends[-1]:
        raise ValueError("it was changed")
    return {
        key: values[fit_ends[fit_index] : fit_ends[fit_index + 1]]
        for fit_index, key in enumerate(line["fits"])
    }
