"""Messages in the language of R: its functions, its values and its counting from 1."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import ucvtest as uv

R_DESIGNS = {
    "DisjointSets": "disjoint_sets",
    "HoldOut": "hold_out",
    "KFold": "k_fold",
    "NestedKFold": "nested_k_fold",
    "RandomSplits": "random_splits",
    "SplitHalves": "split_halves",
}
"""What R calls the designs."""


R_FUNCTIONS = {
    "compare": "compare_learners",
    "evaluate": "evaluate_learners",
    "plan": "plan_sample_size",
    "select_model": "select_model",
}
"""What R calls the functions around tests."""

R_CONSTRUCTORS = {
    "from_arrays": "as_losses()",
    "from_correct": "correct_losses()",
    "from_predictions": "prediction_losses()",
    "from_scores": "score_losses()",
    "from_sklearn": "as_losses() of caret::resamples()",
}
"""What R has in the place of the constructors of `Losses`."""


class _Names(Mapping[str, str]):
    """Names in R by names in Python. A test class declares its own, and is imported when asked."""

    def __init__(self) -> None:
        self._tests = tuple(name for name in uv.__all__ if name.endswith("Test"))
        self._others = R_DESIGNS | R_FUNCTIONS

    def __getitem__(self, name: str) -> str:
        return str(getattr(uv, name).r_function) if name in self._tests else self._others[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tests or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter((*self._tests, *self._others))

    def __len__(self) -> int:
        return len(self._tests) + len(self._others)


@cache
def r_names() -> Mapping[str, str]:
    """What R calls the classes and functions that messages name."""
    return _Names()


VALUES = {"True": "TRUE", "False": "FALSE", "None": "NULL"}


def _function(found: re.Match[str]) -> str:
    opened = found["call"]
    if found["name"] in r_names():
        return r_names()[found["name"]] + (opened or "()")
    return found["name"] + (opened or "")


def _class(found: re.Match[str]) -> str:
    return _function(found) if found["name"] in r_names() else found[0]


def _constructor(found: re.Match[str]) -> str:
    """`Losses.from_predictions(sample_weight=)`, with the argument or without, or a call."""
    name = R_CONSTRUCTORS[found["name"]]
    if found["call"]:
        return name.removesuffix(")")
    return name if found["argument"] is None else f"{name[:-1]}{found['argument']} = )"


def _called(found: re.Match[str]) -> str:
    return f"{R_FUNCTIONS[found['name']]}({found['argument']} = )"


def _quoted(found: re.Match[str]) -> str:
    """`loss='a', 'b' or 'c'` in R's spelling."""
    return found[0].replace("=", " = ", 1).replace("'", '"')


def _from_one(found: re.Match[str]) -> str:
    """Every number of a text that counts from 0, counted from 1."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) + 1), found[0])


COUNTED = (
    r"\bon split \d+(?: for observation \d+)?|\bfor split \d+\b|\bsplit \d+ of the design\b|"
    r"\b(?:row numbers|nor a position) from 0 to \d+|\bin repeat \d+\b|\brepeat \d+(?= has NaN)|"
    r"\b(?:at|in) row \d+(?:, column \d+\b|(?= for observation|, column))|"
    r"(?<=for )(?:the tested )?observation \d+\b|"
    r"\bColumns? \d+(?:, \d+)*(?=(?: and \d+ more)? of x\b)|"
    r"\bleaving out column \d+(?:, \d+)*(?=;)"
)
"""Texts with numbers that Python counts from 0."""

FOREIGN: tuple[tuple[str, str], ...] = (
    (r", as scikit-learn's (?:GroupKFold makes them|split\(\) yields them)", ""),
    (
        r"the sorted labels, as predict_proba returns them, got shape \((\d+),\)",
        r"the levels, got \1 values: pass a matrix in a list, such as list(a = p)",
    ),
    (r"\bthe sorted labels, as predict_proba returns them", "the levels"),
    (r"\bfrom np\.where\(p > 0\.5, (.+?), (.+?)\)", r"from ifelse(p > 0.5, \1, \2)"),
    (r"\bfrom p > 0\.5", "from as.integer(p > 0.5)"),
    (r"\bhas nan (?=for split)", "has NA "),
    (r" \(see error_score='raise'\)", ""),
    (r"\bfold_scores\b", "scores"),
    (r", as (?:by scikit-learn's solver \"svd\"|predict_proba returns them)", ""),
    (r", as scikit-learn's solver \"svd\" does, which", ", which"),
    (r"\bone of scikit-learn's stratified splitters", "stratified folds"),
    (r"\ba splitter that keeps the classes in proportion", "stratified folds"),
    (r"\ba stratified splitter\b", "stratified folds"),
    (r"\bshuffle them \(shuffle=True\)", "draw folds at random"),
    (
        r"(\"\w+\" without) arguments is scikit-learn's (.*)\.$",
        r"\1 a number behind it is the default of a package of Python, \2: see ?learners.",
    ),
    (
        r"\bpass ('[\w.]+'|\w+), or scikit-learn's .*$",
        r"pass \1, or a learner of another package, see ?learners",
    ),
    (r"\ba scikit-learn pipeline\b", "a function(x, y, xnew)"),
    (r" See help\(uv\.learners\)", ""),
    (r", or (?:pass )?a scikit-learn estimator$", ""),
    (
        r"\bStratifiedShuffleSplit with a test_size that is in proportion to the classes",
        "random_splits(stratify = TRUE) with a test_fraction in proportion to the classes",
    ),
    (
        r"\bStratifiedShuffleSplit\(n_splits=(\d+)\) or RepeatedStratifiedKFold",
        r"random_splits(\1, stratify = TRUE) or k_fold(10, \1, stratify = TRUE)",
    ),
    (r"\bTimeSeriesSplit\b", "own_folds(testing = , learning = )"),
    (r"; use uv\.designs\.LeavePairOut\b", "; use leave_pair_out_test() with data and a learner"),
    (r"(?<=left out once) \(LeavePairOut\)", ""),
    (r"\bLeavePairOut(?= needs)", "leave_pair_out_test()"),
    (r"\bother folds \(rng\)", "another set.seed()"),
    (r"\buse weights=\{'fit': \.\.\.\}, or ", "use "),
    (r"\bleave weights out, or pass weights=\{'fit': \.\.\.\}", "leave weights out"),
    (r"\bpass weights=\{'fit': \.\.\.\}, or another loss", "leave weights out"),
    (r", or weights=\{'fit': \.\.\.\}", ", or leave weights out"),
    (r"\bthe scikit-learn estimator as a learner", "a learner of another package, see ?learners"),
    (r"\ba scikit-learn classifier(?: with predict_proba)?", 'a classifier such as "ranger"'),
    (r"\ba scikit-learn regressor", 'a regression such as "stats::lm"'),
    (r"\ban estimator of scikit-survival(?! or)", '"survival::coxph"'),
    (
        r"\bscikit-learn's LogisticRegression for a ridge penalty alone",
        'r_learner("glmnet", alpha = 0, s = ) for a ridge penalty alone',
    ),
    (r"\bscikit-learn's LogisticRegression\b", '"glm"'),
    (r"\bpredict_proba\(X\)\[:, 1\]", 'predict(fit, xnew, type = "prob")[, 2]'),
    (r", with \.astype\(float\) if they are numbers written as text", ", as by as.numeric()"),
    (r" \(of the type float\)", ""),
    (r"\bn_simulations and rng are for\b", "n_simulations is for"),
    (r" \(JAX_PLATFORMS, or jax\.config\.jax_platforms, is", " (JAX_PLATFORMS is"),
    (r"\ba list or mapping of\b", "a list of"),
    (
        r"\bpd\.Categorical\(y, categories=\[\.\.\.\], ordered=True\)",
        "factor(y, levels = , ordered = TRUE)",
    ),
    (r"\buv\.metrics\.(\w+)\(labels=\[\.\.\.\]\)", r"""'\1["ill"]'"""),
    (r"\b(\w+)=\['(\w+)'\]", r'\1 = "\2"'),
    (r"\bsample_weight= of prediction_losses\(\)|\bsample_weight\b", "weights"),
    (r"\bshape \((\d+), (\d+)\)", r"\1 x \2 values"),
    (r"\bshape \((\d+),\)", r"\1 values"),
    (
        r"\blearners by short names, such as 'lda', are quicker",
        'n_jobs = distributes the fits, and learners such as "lda" are quicker, see ?learners',
    ),
    (r"\bof X\b", "of x"),
    (r"\blosses as X$", "losses as x"),
)
"""What only users of Python's packages have, and what R has in its place."""


RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # Of whole numbers as a response: R has a type for labels, and its losses are plain functions.
    (r" \(for a loss function of your own, uv\.losses\.Loss states the kind\)", ""),
    (r"loss='zero_one'(?= if they are labels)", r"\g<0> or factor(y)"),
    *FOREIGN,
    # "learner lda failed on split 0: ValueError: ..."
    (r"(failed on split \d+: )(?:\w+(?:Error|Exception|Warning): )?", r"\1"),
    (COUNTED, _from_one),
    (r"\bnor a position from\b", "nor a number from"),
    (
        rf"\b(?:Losses\.)?(?P<name>{'|'.join(R_CONSTRUCTORS)})\b"
        r"(?:\((?P<argument>\w+)=\)|(?P<call>\())?",
        _constructor,
    ),
    (r"(?<=must be )Losses\b|(?<=, or )Losses\b|\bLosses(?= as X)", "losses"),
    # Methods of tests have no name of their own in R.
    (r"\ba test class(?=, such as)", "a test"),
    (r"\b(\w+Test)\.from_losses\(", r"\1("),
    (r"\b(\w+)= to fit\b", r"\1 = to the test"),
    (r"(?<![\w.])fit\((\w+)=\)", r"\1 = of a test"),
    (r"\bfrom_losses\((\w+)=\)", r"\1 = "),
    (rf"(?<![\w.])(?P<name>{'|'.join(R_FUNCTIONS)})\((?P<argument>\w+)=\)", _called),
    # Metrics go by their names alone.
    (r", (?:or|your own by) uv\.metrics\.(?:Cells|Moments)[^,;]*", ""),
    (r"\buv\.metrics\.(\w+)\('(\w+)'\)", r'metric = "\1_\2"'),
    (r"\buv\.metrics\.(\w+\([\d.]+\))", r'"\1"'),
    (
        r"\blabels names (\d+) classes, but average='binary' is about one: .*$",
        r"it names \1 classes, and without an average it is about one: name one, or an average, "
        r"""as in 'f1_macro["a","b"]'""",
    ),
    (
        r"\bname one by labels=\[\.\.\.\], or an average: [^:;]+",
        'name one, as in \'f1["ill"]\', or an average, as in "f1_macro"',
    ),
    (r"\buv\.survival\(", "Surv("),
    (r"\buv\.learners\.(\w+)\(\)", r'"\1"'),
    (r"\buv\.learners\.(\w+)\(([\d.]+)\)", r'"\1:\2"'),
    (r"\buv\.(?:\w+\.)?(?P<name>[A-Za-z_]\w*)(?P<call>\()?", _function),
    # Tests and designs, which messages name without the package.
    (r"\b(?P<name>[A-Z]\w*)\b(?P<call>\()?", _class),
    (r"\bTestSpec\((\"\w+\"), fit=\{\"(\w+)\": \.\.\.\}\)", r"list(\1, \2 = )"),
    (r"\ba scorer from sklearn\.metrics\.make_scorer", "a function(truth, prediction)"),
    (r"\b(\w+)\['([^']+)'\]", r"\1$\2"),
    (r"\b(\w+)=\(([\d., ]+)\)", r"\1 = c(\2)"),
    # A learner by a name, such as 'ridge:1,scale=mean', is written in R as in Python.
    (r"(?<![,:])\b([a-z]\w*)=(?=-?\d|(?:True|False|None)\b)", r"\1 = "),
    (r"\bgroups=(?=question\b)", "groups = "),
    # An argument without a value.
    (r"\b([a-z]\w*)=(?=\s)", r"\1 ="),
    (r"\b([a-z]\w*)=(?=[,:;.)]|$)", r"\1 = "),
    (r"\bgot \(([\d., ]+)\)", r"got c(\1)"),
    (r"\bpos_label\b", "positive"),
    # R writes whole numbers as labels without a fraction.
    (
        r"((?:labels|and|mean|contains|positive class|positive=|positive =|group only|"
        r"of y are) ?\(?-?\d+)"
        r"\.0\b",
        r"\1",
    ),
    (r"(?<=[\d], )(-?\d+)\.0(?=[,):]|$)", r"\1"),
    # Quoted names are R's either way; single quotes are Python's habit.
    (r"\b\w+='[^']*'(?:(?:, | or |, or )'[^']*')*", _quoted),
    (r"\ba callable \(X_train, y_train, X_test\) -> predictions", "a function(x, y, xnew)"),
    (r"\ba callable\b", "a function"),
    (
        r"\ban estimator of scikit-survival or lifelines, or a function \(.*\) -> risks",
        'coxph, "glmnet", "ranger", "rfsrc" or a function(x, y, xnew) that returns risks',
    ),
    (
        r"^(.*\blearner '[^']*' is unknown: .*)$",
        r'\1; functions of R are "glm", "ranger", "rpart" and others of ?learners, or by package, '
        r'as in "MASS::lda"',
    ),
    (r", or their classes$", ""),
    (r"\b(True|False|None)\b(?! of)", lambda found: VALUES[found[1]]),
    (r"(?<!['\"\w])X(?=(?:'s)? (?:contains|has|must|is|and)\b|,|:)", "x"),
)


def in_r(text: str) -> str:
    """A message with R's names of functions and values; everything else stays.

    Examples
    --------
    >>> from ucvtest_r.wording import in_r
    >>> in_r("use uv.designs.KFold(5), or pass loss='squared'")
    'use k_fold(5), or pass loss = "squared"'
    """
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text)
    return text
