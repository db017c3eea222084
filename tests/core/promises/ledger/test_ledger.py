"""What a ledger keeps: its budget, its rows, its lines, and that nothing but a bit leaves it."""

import base64
import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import ucvtest as uv
from ucvtest.stats.stakes import LEAST_LEVEL

RNG = np.random.default_rng(8)
N = 400
Y = RNG.integers(2, size=N)


def model(error, rng=RNG):
    return np.where(rng.random(N) < error, 1 - Y, Y)


MODELS = {"old": model(0.35), "new": model(0.2), "best": model(0.05), "same": model(0.35)}
RIGHT = {name: predicted == Y for name, predicted in MODELS.items()}


def losses(*names, **options):
    names = names or MODELS
    return uv.Losses.from_predictions(Y, {name: MODELS[name] for name in names}, **options)


@pytest.fixture
def ledger(tmp_path):
    made = uv.Ledger(tmp_path / "gate.jsonl")
    made.open(losses("old"), stake=0.2)
    return made


def lines(ledger):
    return ledger.path.read_text().splitlines(keepends=True)


def test_passes_leave_the_stake_and_other_answers_the_rest(ledger):
    assert ledger.ask(losses("same")).decision == "not shown"
    assert ledger.show().budget == pytest.approx(0.05 * 0.8)
    answer = ledger.ask(losses(), "new", stake=0.5)
    assert answer.passed
    assert answer.budget == pytest.approx(0.05 * 0.8 * 0.5)
    assert answer.level == pytest.approx(0.2 * answer.budget)
    # The candidate that passed is the baseline now.
    assert ledger.ask(losses(), "old").decision == "not shown"
    answer = ledger.ask(losses("best"))
    assert (answer.passed, answer.n_asks, answer.n_promotions) == (True, 4, 2)


def test_the_same_predictions_get_the_stored_answer(ledger):
    for name in ("same", "new"):
        first, size = ledger.ask(losses(name)), len(lines(ledger))
        again = ledger.ask(losses("best", name), name)
        assert (again.decision, again.budget, again.chain) == (
            *(first.decision, first.budget, first.chain),
        )
        assert again.stored
        assert len(lines(ledger)) == size
    assert ledger.ask(losses("new", "old"), "new", "old").passed


def test_no_model_is_better_than_itself(ledger):
    assert ledger.ask(losses("old")).decision == "not shown"
    assert ledger.show().n_asks == 0


def test_margins_do_not_add_up(tmp_path):
    """Each step is worse by less than the margin, the second more than that from the first."""
    wrong = {"a": 40, "b": 50, "c": 58}
    marks = {name: np.arange(N) >= count for name, count in wrong.items()}
    steps = uv.Losses.from_correct(marks)
    creeping, fresh = (uv.Ledger(tmp_path / name) for name in ("a", "b"))
    creeping.open(steps, "a", stake=0.9)
    assert creeping.ask(steps, "b", margin=0.06).passed
    fresh.open(steps, "b", alpha=0.045, stake=0.9)
    assert fresh.ask(steps, "c", margin=0.06).passed
    assert not creeping.ask(steps, "c", margin=0.06).passed


@pytest.mark.parametrize(
    ("options", "y"),
    [({}, Y), ({"metric": "f1"}, Y), ({"groups": np.arange(N) // 4}, Y), ({}, Y + 3)],
)
def test_one_bit_in_every_kind_of_question(tmp_path, options, y):
    found = uv.Losses.from_predictions(
        y, {name: each - Y + y for name, each in MODELS.items()}, **options, pos_label=y.max()
    )
    ledger = uv.Ledger(tmp_path / "gate.jsonl")
    ledger.open(found, "old", stake=0.3)
    assert [ledger.ask(found, name).passed for name in ("same", "best")] == [False, True]


def test_metrics_share_a_ledger(ledger):
    by_f1 = losses(metric="f1")
    assert ledger.ask(by_f1, "new").passed
    assert ledger.ask(losses(), "best").passed


def test_marks_are_recognized_by_the_first_baseline(tmp_path):
    marks = uv.Losses.from_correct(RIGHT)
    ledger = uv.Ledger(tmp_path / "gate.jsonl")
    ledger.open(marks, "old")
    assert ledger.ask(marks, "best").passed
    alone = uv.Losses.from_correct({"new": RIGHT["new"]})
    with pytest.raises(ValueError, match="a column for the first baseline"):
        ledger.ask(alone)


class TestTheFile:
    @pytest.fixture(autouse=True)
    def asked(self, ledger):
        for name in ("same", "new", "best"):
            ledger.ask(losses(name))

    @pytest.mark.parametrize(
        "change",
        [
            lambda text: [*text[:2], text[3], text[2], *text[4:]],
            lambda text: [*text[:3], *text[4:]],
            lambda text: [*text[:2], text[2].replace("false", "true"), *text[3:]],
            lambda text: [text[0].replace('"alpha": 0.05', '"alpha": 0.5'), *text[1:]],
            lambda text: [text[0], "[" * 5000 + "\n", *text[1:]],
            lambda text: [*text, "{}\n"],
        ],
    )
    def test_changed_lines_are_refused(self, ledger, change):
        text = lines(ledger)
        ledger.path.write_text("".join(change(text)))
        assert lines(ledger) != text
        for call in (ledger.show, lambda: ledger.ask(losses("old"), margin=0.1)):
            with pytest.raises(ValueError, match="changed, moved or taken out"):
                call()

    @pytest.mark.parametrize("begins", [lambda text: text[1:], lambda text: ["7\n", *text]])
    def test_a_file_that_begins_otherwise_is_refused(self, ledger, begins):
        ledger.path.write_text("".join(begins(lines(ledger))))
        with pytest.raises(ValueError, match="does not begin as a ledger's file"):
            ledger.ask(losses("old"), margin=0.1)

    def test_half_a_line_is_what_a_kill_leaves(self, ledger):
        """Its answer was never heard, so the ask goes on, and the answer is the same."""
        text, before = lines(ledger), ledger.show()
        ledger.path.write_text("".join(text[:-1]) + text[-1][:30])
        assert ledger.show().n_promotions == before.n_promotions - 1
        again = ledger.ask(losses("best"))
        assert (again.passed, again.budget) == (True, before.budget)
        assert not again.stored
        assert len(lines(ledger)) == len(text)

    def test_an_ask_that_a_kill_has_ended_is_not_shown(self, ledger):
        text = lines(ledger)
        ledger.path.write_text("".join(text[:-1]))
        pending = ledger.show().budget
        ledger.ask(losses("old"))
        assert ledger.show().budget == pytest.approx(pending * 0.8)
        assert ledger.ask(losses("best")).decision == "not shown"

    def test_a_cut_tail_changes_the_chain(self, ledger):
        chain = ledger.show().chain
        ledger.path.write_text("".join(lines(ledger)[:-2]))
        assert ledger.show().chain != chain

    def test_other_rows_are_refused(self, ledger):
        turned = uv.Losses.from_predictions(1 - Y, {"a": MODELS["new"]})
        reordered = uv.Losses.from_predictions(Y[::-1], {"a": MODELS["new"][::-1]})
        grouped = losses("new", groups=np.arange(N) // 2)
        fewer = uv.Losses.from_predictions(Y[1:], {"a": MODELS["new"][1:]})
        for others in (turned, reordered, grouped, fewer):
            for call in (ledger.ask, ledger.close):
                with pytest.raises(ValueError, match="these are not the 400 rows"):
                    call(others)

    def test_only_its_owner_reads_it(self, ledger):
        assert ledger.path.stat().st_mode & 0o077 == 0

    def test_neither_the_file_nor_an_answer_has_a_number_of_the_rows(self, ledger):
        """They are the same for all rows with these bits, but for what the key hides."""
        known = {"alpha", "stake", "level", "margin", "n_obs", "version", "time", "pass"}
        hashes = {"rows", "baseline", "new", "old", "before", "hash", "kept"}
        words = {"kind", "format", "metric"}
        for line in map(json.loads, lines(ledger)):
            assert set(line) <= known | hashes | words
        state = {*(each.name for each in fields(uv.GateAnswer)), "verdict"}
        assert set(ledger.ask(losses("best")).to_dict()) == state
        text = ledger.path.read_text()
        for name, right in RIGHT.items():
            for packed in (np.packbits(right), np.packbits(~right), np.packbits(MODELS[name])):
                assert packed.tobytes().hex() not in text
                assert base64.b64encode(packed.tobytes()).decode() not in text


def test_a_spent_ledger_looks_at_nothing(ledger):
    assert not ledger.ask(losses("same"), stake=1.0).passed
    size = len(lines(ledger))
    answer = ledger.ask(losses("best"))
    assert (answer.decision, answer.passed) == ("spent", False)
    assert len(lines(ledger)) == size


@pytest.mark.parametrize("before", [0.5, 1 - 2e-9, 1 - 2.1e-11])
def test_too_small_a_stake_is_refused_with_one_that_works(ledger, before):
    assert not ledger.ask(losses("same"), stake=before).passed
    size = len(lines(ledger))
    with pytest.raises(ValueError, match=r"stake must be .* or more, got 1e-12") as refused:
        ledger.ask(losses("best"), stake=1e-12)
    assert len(lines(ledger)) == size
    usable = float(str(refused.value).split()[3])
    assert LEAST_LEVEL <= usable * ledger.show().budget < 1.2 * LEAST_LEVEL
    assert not ledger.ask(losses("old", "same"), "same", stake=usable).passed


FILES = [b'{"a": 1}', b'{"kind": "open", "format": "other"}\n', b"y,old\n0,1\n", b"y", b"\xff\0"]


@pytest.mark.parametrize("content", FILES)
def test_files_of_others_are_refused_and_kept(tmp_path, content):
    ledger = uv.Ledger(tmp_path / "gate.jsonl")
    ledger.path.write_bytes(content)
    for call in (ledger.open, ledger.ask):
        with pytest.raises(ValueError, match="does not begin as a ledger's file"):
            call(losses("old"))
    assert ledger.path.read_bytes() == content


@pytest.mark.parametrize("length", [0, 1, 30, 200, -1])
def test_an_opening_that_was_cut_is_opened_again(ledger, length):
    ledger.path.write_text(ledger.path.read_text()[:length])
    with pytest.raises(ValueError, match="there is no ledger"):
        ledger.show()
    ledger.open(losses("old"))
    assert ledger.ask(losses("best")).passed


def test_a_candidate_is_not_compared_with_an_older_baseline(ledger):
    """It may be better than that one, and worse than the current one."""
    assert ledger.ask(losses(), "best", "old").passed
    size = len(lines(ledger))
    for names in (("new", "old"), ("new", "same"), ("best", "new")):
        with pytest.raises(ValueError, match="other predictions than the current baseline"):
            ledger.ask(losses(), *names)
    assert ledger.ask(losses(), "best", "old").stored
    assert not ledger.ask(losses(), "best", "best").passed
    assert len(lines(ledger)) == size
    assert not ledger.ask(losses(), "new", "best").passed


def test_numbers_come_after_the_end(ledger):
    ledger.ask(losses("same"))
    ledger.ask(losses("best"))
    table = ledger.close(losses("new"))
    assert table.decision.tolist() == ["not shown", "pass"]
    assert table.candidate_error.tolist() == [(~RIGHT[name]).mean() for name in ("same", "best")]
    expected = uv.McNemarTest.from_losses(losses("best", "old"), alternative="less").fit().pvalue
    assert table.pvalue.iloc[1] == pytest.approx(expected, rel=1e-12)
    state = ledger.show(0.1, 0.3)
    assert (state.closed, state.level, state.power) == (True, None, None)
    assert "level" not in state.verdict
    with pytest.raises(ValueError, match="is closed"):
        ledger.ask(losses("new"))


def test_power_is_that_of_the_exact_test(ledger):
    state = ledger.show(0.1, 0.3)
    counts = np.random.default_rng(1).multinomial(N, [0.2, 0.1, 0.7], size=20_000)
    pvalues = binom.cdf(counts[:, 1], counts[:, 0] + counts[:, 1], 0.5)
    assert state.power == pytest.approx((pvalues <= state.level).mean(), abs=0.02)


def test_a_plan_says_which_levels_an_ask_has():
    pilot = losses("new", "old")
    plain = uv.plan(pilot, difference=0.1, alpha=0.1)
    once = uv.plan(pilot, difference=0.1, alpha=0.05, asks=1)
    assert once.n_needed == plain.n_needed
    later = uv.plan(pilot, difference=0.1, asks=20, promotions=3)
    assert later.settings["level"] == pytest.approx(0.05 / 5**4)
    assert later.n_needed > 2 * once.n_needed


def test_a_missing_ledger_leaves_no_file(tmp_path: Path):
    with pytest.raises(ValueError, match="there is no ledger"):
        uv.Ledger(tmp_path / "none.jsonl").show()
    assert not list(tmp_path.iterdir())
