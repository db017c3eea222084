"""Light codes in explicit form, and learners that reach their limit."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ucvtest.codes.bounds import residue_class_sizes


@dataclass(frozen=True, eq=False)
class LightCode:
    """A light code: its edges can be directed as it promises.

    Parameters
    ----------
    words : array of bool, shape (L, n)
        Different words of the same weight.
    n_errors : int
        W, the most arcs that may leave a word.

    Raises
    ------
    ValueError
        If no orientation is W-light.

    Notes
    -----
    An orientation is a flow: every edge between two words must leave one of them, and W can leave
    each. Arcs between a code word and another word point to the code word.
    Pahikkala et al. (2025), Definition 4.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> code = uv.codes.LightCode(np.array([[1, 1, 0, 0], [0, 0, 1, 1]]), n_errors=0)
    >>> len(code), code.promised_probability
    (2, 0.3333333333333333)
    """

    words: Any
    n_errors: int

    def __post_init__(self) -> None:
        codewords = np.array(self.words, dtype=bool)
        codewords.flags.writeable = False
        object.__setattr__(self, "words", codewords)
        self.arcs  # noqa: B018  (raises where there is no light orientation)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def promised_probability(self) -> float:
        """Share of all labelings that are words of the code."""
        n, weight = self.words.shape[1], int(self.words[0].sum())
        return len(self) / comb(n, weight)

    @cached_property
    def arcs(self) -> np.ndarray:
        """Rows (from, to) of word numbers, one for each pair of words that are neighbours."""
        edges = _neighbours(self.words)
        return edges if not len(edges) else _light_orientation(edges, len(self), self.n_errors)


def residue_class_code(n_errors: int, n: int, weight: int) -> LightCode:
    """The light code of Proposition 4: words with the commonest sum modulo n - 2W.

    Parameters
    ----------
    n_errors : int
        W, at most n/4.
    n, weight : int

    Returns
    -------
    LightCode
        At least C(n, weight)/(n - 2W) words.

    Notes
    -----
    Pahikkala et al. (2025), Proposition 4; Graham and Sloane (1980) for W = 0. Two words of
    the class are neighbours if positions i and i + n - 2W change places, so every word has
    2W neighbours at most.

    Examples
    --------
    >>> import ucvtest as uv
    >>> len(uv.codes.residue_class_code(0, 8, 4)), len(uv.codes.residue_class_code(1, 8, 4))
    (10, 13)
    """
    modulus = n - 2 * n_errors
    codewords = _all_words(n, weight)
    largest_class = int(np.argmax(residue_class_sizes(n, weight, modulus)))
    sums = (codewords * np.arange(1, n + 1)).sum(axis=1) % modulus
    return LightCode(codewords[sums == largest_class], n_errors)


def cyclic_code(n_errors: int, n: int) -> LightCode:
    """The largest light code of weight 2, from cyclic shifts: Proposition 2.

    Parameters
    ----------
    n_errors, n : int

    Returns
    -------
    LightCode
        With min((W + 1) n // 2, C(n, 2)) words.

    Notes
    -----
    Words are pairs of positions, and every position may be in W + 1 of them; each word then
    has at most 2W neighbours. Pairs at a cyclic distance use every position twice; for an odd
    number those at distance n/2 use each once more or, where n is odd, every other pair at
    distance 1 all positions but one.

    Examples
    --------
    >>> import ucvtest as uv
    >>> len(uv.codes.cyclic_code(0, 7)), len(uv.codes.cyclic_code(2, 7))
    (3, 10)
    """
    per_position = min(n_errors + 1, n - 1)
    distances = range(1, per_position // 2 + 1)
    pairs: list[tuple[int, int]] = []
    if per_position % 2 and n % 2:
        # Every other pair at distance 1 uses all positions but one.
        pairs += [(i, i + 1) for i in range(0, n - 1, 2)]
        distances = range(2, per_position // 2 + 2)
    elif per_position % 2:
        pairs += [(i, i + n // 2) for i in range(n // 2)]
    pairs += [(i, (i + distance) % n) for distance in distances for i in range(n)]
    codewords = np.zeros((len(pairs), n), dtype=bool)
    for row, pair in enumerate(pairs):
        codewords[row, list(pair)] = True
    # No word has more neighbours than 2n, whatever else is allowed.
    return LightCode(codewords, min(n_errors, 2 * n))


@dataclass(frozen=True, eq=False)
class AdversarialLearner:
    """The learner of Theorem 2, which makes at most W errors on every word of a light code.

    A callable ``(X_train, y_train, X_test) -> scores`` for samples whose observations all
    differ. It recognises positions by the order of the rows, and predicts of the two
    possible labelings the one that is in the code; where both are, that which the arc between
    them points to.

    Parameters
    ----------
    code : LightCode

    Notes
    -----
    Pahikkala et al. (2025), Theorem 2. Its null distribution has the probability
    ``code.promised_probability`` for at most W errors, whatever the data: a test that is valid
    for every algorithm cannot reject more. Labels must sort so that the positive one is last.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> code = uv.codes.residue_class_code(0, 6, 3)
    >>> X = np.arange(6.0)[:, None]
    >>> test = uv.LeavePairOutTest(X, code.words[0], uv.codes.AdversarialLearner(code))
    >>> result = test.fit(n_permutations="exact")
    >>> result.diagnostics["n_errors"], result.pvalue == code.promised_probability
    (0.0, True)
    """

    code: LightCode

    def __call__(self, X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
        """Scores of two held-out observations."""
        rows, labels = np.vstack([X_train, X_test]), np.asarray(y_train)
        n = self.code.words.shape[1]
        canonical_rank = np.empty(n, dtype=int)
        canonical_rank[np.lexsort(rows.T[::-1])] = np.arange(n)
        codeword = np.zeros(n, dtype=bool)
        codeword[canonical_rank[: n - 2]] = labels == max(labels.tolist())
        scores = np.zeros(2)
        number = []
        for held_out in (n - 2, n - 1):
            candidate = codeword.copy()
            candidate[canonical_rank[held_out]] = True
            number.append(self._numbers.get(candidate.tobytes()))
        first, second = number
        if first is None and second is None:
            return scores
        if first is not None and second is not None:
            # The arc leaves the word on which an error is made.
            first = None if (first, second) in self._arcs else first
        scores[0 if first is not None else 1] = 1.0
        return scores

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {codeword.tobytes(): number for number, codeword in enumerate(self.code.words)}

    @cached_property
    def _arcs(self) -> set[tuple[int, int]]:
        return {(int(a), int(b)) for a, b in self.code.arcs}


def order_direction_learner(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
    """Learn only whether the first feature rises or falls with the labels.

    Parameters
    ----------
    X_train, y_train, X_test : array-like

    Returns
    -------
    ndarray
        The first feature or its negative.

    Notes
    -----
    Pahikkala et al. (2025), Figure 3: its null distribution is wide and far from the
    Wilcoxon-Mann-Whitney one. Labels must sort so that the positive one is last: callables do not
    know of ``pos_label``.
    """
    labels, feature = np.asarray(y_train), np.asarray(X_train)[:, 0]
    positive = labels == max(labels.tolist())
    rise = feature[positive].mean() - feature[~positive].mean()
    return np.sign(rise) * np.asarray(X_test)[:, 0]


@dataclass(frozen=True)
class RandomLearner:
    """A learner that uses the learning set as the seed of its predictions.

    Parameters
    ----------
    seed : int

    Notes
    -----
    Pahikkala et al. (2025), Figure 6: a random orientation of the Johnson graph. Its null
    distribution is close to a binomial one with n_1 n_0 pairs, much narrower than the
    Wilcoxon-Mann-Whitney one. It does not depend on the order of the rows.
    """

    seed: int = 0

    def __call__(self, X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
        """Scores of two or more observations."""
        learnt, tested = np.column_stack([X_train, y_train]), np.asarray(X_test)
        order = np.lexsort(tested.T[::-1])
        hashed_rows = learnt[np.lexsort(learnt.T[::-1])].tobytes() + tested[order].tobytes()
        digest = hashlib.blake2b(hashed_rows, key=str(self.seed).encode(), digest_size=8).digest()
        scores = np.empty(len(tested))
        scores[order] = np.random.default_rng(int.from_bytes(digest)).random(len(tested))
        return scores


def _all_words(n: int, weight: int) -> np.ndarray:
    positions = np.array(list(combinations(range(n), weight)))
    codewords = np.zeros((len(positions), n), dtype=bool)
    np.put_along_axis(codewords, positions, True, axis=1)
    return codewords


def _neighbours(codewords: np.ndarray) -> np.ndarray:
    """Pairs of words (E, 2) that differ by one transposition."""
    numbers = {codeword.tobytes(): number for number, codeword in enumerate(codewords)}
    edges = []
    for number, codeword in enumerate(codewords):
        other = codeword.copy()
        for i in np.flatnonzero(codeword):
            for j in np.flatnonzero(~codeword):
                other[i], other[j] = False, True
                neighbour = numbers.get(other.tobytes(), -1)
                if neighbour > number:
                    edges.append((number, neighbour))
                other[i], other[j] = True, False
    return np.array(edges, dtype=int).reshape(-1, 2)


def _light_orientation(edges: np.ndarray, n_words: int, n_errors: int) -> np.ndarray:
    """Arcs (E, 2), at most n_errors from each word, by a maximum flow."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    n_edges = len(edges)
    source, sink = n_edges + n_words, n_edges + n_words + 1
    edge, word_node = np.arange(n_edges), n_edges + np.arange(n_words)
    tails = np.concatenate([np.full(n_edges, source), edge, edge, word_node])
    heads = np.concatenate(
        [edge, n_edges + edges[:, 0], n_edges + edges[:, 1], np.full(n_words, sink)]
    )
    capacity = np.concatenate([np.ones(3 * n_edges), np.full(n_words, n_errors)]).astype(np.int32)
    graph = coo_array((capacity, (tails, heads)), shape=(sink + 1, sink + 1)).tocsr()
    max_flow = maximum_flow(graph, source, sink)
    if max_flow.flow_value < n_edges:
        raise ValueError(
            f"words form no {n_errors}-light code: {n_edges} pairs of them are neighbours, and "
            f"only {max_flow.flow_value} can be directed"
        )
    # The word that an edge's unit of flow goes to is the one that the arc leaves.
    flow = max_flow.flow.tocoo()
    used_arcs = (flow.row < n_edges) & (flow.data > 0)
    leaves = np.empty(n_edges, dtype=int)
    leaves[flow.row[used_arcs]] = flow.col[used_arcs] - n_edges
    return np.column_stack([leaves, edges.sum(axis=1) - leaves])
