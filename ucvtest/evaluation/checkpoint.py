"""What a call has finished, kept in a folder to go on from.

The file call.json has the question. Every other file has predictions of some fits of learners that
are fitted one by one, a finished result, or a number that the clock decided, as JSON with the check
sum of gzip. Every file is written whole. One call at a time writes. Each fit is known by what
decides it: the learner's name, its learning and test set, its seed and labels.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.exceptions import UNUSABLE
from ucvtest.common.whole_files import write_whole
from ucvtest.common.words import excerpt
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
        """Keep the predictions of some fits."""
        tested = [values[row][fits.testing[row]].ravel() for row in range(len(fits))]
        self._keep(list(self._keys(learner, output, fits)), tested)

    def _keep(self, keys: list[str], tested: list[np.ndarray]) -> None:
        """Keep the tested predictions of each fit, while there is room."""
        self._n_bytes += sum(predictions.nbytes for predictions in tested)
        if self._n_bytes <= MOST_BYTES:
            self._values.update(zip(keys, tested, strict=True))

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
FORMAT_VERSION = 2

PACKAGES = {"jax": "jax", "numpy": "numpy", "sklearn": "scikit-learn"}
"""Packages that may be behind any learner, by the names of their modules."""

CALL, LOCK, KEPT = "call.json", "lock", "[0-9]*.json.gz"
"""The names of files; finished work is numbered in its order."""


class Checkpoint(KnownFits):
    """A folder with predictions of one call, and what the call was asked.

    Nothing is written before there is something to keep, so that a call that is refused leaves no
    folder.
    """

    def __init__(self, path: Any, rng: Any = None) -> None:
        """Read what a folder is about, if there is one, before anything is fitted.

        Raises
        ------
        ValueError
            If the name is none, the folder above it does not exist, or it is of something else; or
            if `rng` is a generator, whose seed nobody knows.
        """
        super().__init__()
        if isinstance(rng, np.random.Generator):
            raise ValueError(
                "checkpoint keeps the seed, but a Generator does not have one: pass an integer"
            )
        if not isinstance(path, (str, PathLike)):
            raise ValueError(f"checkpoint must be the name of a folder, got {excerpt(path)}")
        self.path = path = Path(path)
        if not path.absolute().parent.is_dir():
            raise ValueError(f"checkpoint {path}: the folder {path.parent} does not exist")
        if path.exists() and not path.is_dir():
            raise ValueError(f"checkpoint {path} is a file: name a folder")
        self._header = self._read_header()
        self._question: dict[str, Any] = {}
        self._names: list[tuple[Learner, str]] = []
        self._seed: int | None = None
        self._lock: Any = None
        self._decided: dict[str, int] = {}
        self._results: dict[str, Any] = {}
        self._n_kept = 0

    def seed(self, rng: Any) -> Any:
        """The seed to go on with where none is named; otherwise the one that is."""
        return self._header["seed"] if rng is None and self._header is not None else rng

    def begin(
        self, question: Mapping[str, Any], learners: Mapping[str, Learner], seed: int
    ) -> None:
        """Give the question, and read kept predictions; those of another call are refused.

        Raises
        ------
        ValueError
            If the folder is of another call, with what differs.
        """
        # Imports joblib, which calls without a checkpoint may do without.
        from ucvtest.common.digest import digest

        self._names = [(learner, name) for name, learner in learners.items()]
        self._seed = seed
        named = {f"learner {name}": learner for name, learner in learners.items()}
        described = {"learners": ", ".join(learners), **named, **question, "rng": seed}
        for package, distribution in PACKAGES.items():
            self._question[f"version of {package}"] = version(distribution)
        for name, value in described.items():
            # What can be read is kept as it is, everything else by what it is.
            if value is None or isinstance(value, (bool, str)) or is_integer(value):
                self._question[name] = value
                continue
            content, versions = digest(name, value)
            self._question[name] = {"digest": content}
            self._question |= {
                f"version of {package}": number for package, number in versions.items()
            }
        if self._header is not None:
            self._refuse_another_call(self._header["asked"])
        self._take()
        try:
            for file in sorted(self.path.glob(KEPT)):
                self._read(file)
        except (*UNUSABLE, OSError, EOFError, zlib.error) as error:
            raise self._unusable(f"{file.name}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._lock is None:
            return
        if not (self.path / CALL).exists():
            with suppress(OSError):
                (self.path / LOCK).unlink()
                self.path.rmdir()
        self._lock.release()

    def _take(self) -> None:
        """Be the one call that writes; another may have begun since the folder was read."""
        from filelock import FileLock, Timeout

        try:
            self.path.mkdir(exist_ok=True)
            lock = FileLock(self.path / LOCK, timeout=0)
            lock.acquire()
        except Timeout:
            raise ValueError(
                f"checkpoint {self.path} is being written by another call: wait for its end, or "
                "name another folder"
            ) from None
        except (OSError, NotImplementedError) as error:
            raise ValueError(
                f"checkpoint {self.path} cannot be written ({error}): name a folder in one of your "
                "own"
            ) from error
        self._lock = lock
        if self._read_header() != self._header:
            raise ValueError(
                f"checkpoint {self.path} has just been written by another call: call again, to go "
                "on from there"
            )

    def _unusable(self, reason: object) -> ValueError:
        return ValueError(
            f"checkpoint {self.path} is not a checkpoint of this ucvtest ({reason}): name another "
            "folder"
        )

    def _read_header(self) -> dict[str, Any] | None:
        """The question of the first call; None in a folder that is new, or empty."""
        names = {file.name for file in self.path.glob("[!.]*")}
        if names <= {LOCK}:
            return None
        try:
            header = json.loads((self.path / CALL).read_bytes())
            if (header["format"], header["version"]) != (FORMAT, FORMAT_VERSION):
                raise ValueError(f"its {CALL} is of another format")
            if not isinstance(header["asked"], dict) or not is_integer(header["seed"]):
                raise ValueError(f"its {CALL} is incomplete")
        except (*UNUSABLE, OSError) as error:
            raise self._unusable(error) from error
        return dict(header)

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
                "same arguments, or name another folder"
            )

    def recall_or_decide(self, name: str, decide: Callable[[], int]) -> int:
        """A number that was decided by the clock: the one of the first call."""
        if name not in self._decided:
            self._decided[name] = decide()
            self._write(decided={name: self._decided[name]})
        return self._decided[name]

    def result(self, key: Sequence[str]) -> Any:
        """A finished result as JSON has it; None if there is none."""
        return self._results.get(json.dumps(key))

    def keep_result(self, key: Sequence[str], value: Mapping[str, Any]) -> None:
        """Keep a finished result, which `result` then knows."""
        self._write(result={json.dumps(key): value})

    def _keep(self, keys: list[str], tested: list[np.ndarray]) -> None:
        self._values.update(zip(keys, tested, strict=True))
        self._write(fits={key: rows.tolist() for key, rows in zip(keys, tested, strict=True)})

    def _name(self, learner: Learner) -> str:
        """The name that the user gave, which another call knows too."""
        return next(
            (name for named_learner, name in self._names if named_learner is learner), learner.name
        )

    def _write(self, **parts: Any) -> None:
        """Write a file, and have it on the disk when this returns."""
        if self._header is None:
            header = {"format": FORMAT, "version": FORMAT_VERSION, "seed": self._seed}
            header["asked"] = self._question
            write_whole(self.path / CALL, json.dumps(header))
            self._header = header
        self._n_kept += 1
        content = gzip.compress(json.dumps(parts).encode())
        write_whole(self.path / f"{self._n_kept:08}.json.gz", content)

    def _read(self, file: Path) -> None:
        """Read what `_write` wrote."""
        self._n_kept = int(file.name.partition(".")[0])
        parts = json.loads(gzip.decompress(file.read_bytes()))
        fits = parts.get("fits", {})
        self._values.update({key: np.array(values, dtype=float) for key, values in fits.items()})
        self._results.update(parts.get("result", {}))
        self._decided.update(parts.get("decided", {}))
