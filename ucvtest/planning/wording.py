"""A plan in words and tables."""

from functools import partial

from ucvtest.common.checks import check_switch
from ucvtest.metrics.named import kind_in_words, named_smooth_metric
from ucvtest.planning.sample_plan import SamplePlan
from ucvtest.results.text_tables import (
    Grid,
    Tables,
    escape_markdown,
    hanging,
    in_two_columns,
    number_column,
    number_text,
    wrapped_rows,
)
from ucvtest.results.wording import percent

PLANNED_COLUMNS = (
    "n",
    "se",
    "width",
    "width_low",
    "width_high",
    "power",
    "power_low",
    "power_high",
)
TITLE = "How many observations"
HEADINGS = {"se": "std err"}


def goal_in_words(plan: SamplePlan) -> str:
    """The goal in words."""
    if plan.goal == "width":
        return f"a {percent(1 - plan.alpha)} interval of width {plan.value:g}"
    return (
        f"{percent(plan.power)} power at a {plan.goal} of {plan.value:g} ({percent(plan.alpha)} "
        "level)"
    )


def verdict(plan: SamplePlan) -> str:
    """The answer in words."""
    goal_text = goal_in_words(plan)
    size = plan.settings.get("learn_size")
    learnt = "" if size is None else f", with learning sets of {size}"
    if plan.n_needed is None:
        return f"Ten million {plan.settings['units']} are not enough for {goal_text}{learnt}."
    if plan.n_needed == plan.settings.get("n_least"):
        settings, n_most = plan.settings, number_text(plan.n_high) or "more than ten million"
        pilot = f"the pilot of {settings['n_pilot']}"
        far = f"by {pilot}"
        if plan.n_high != plan.n_needed:
            far = f"but given the uncertainty of {pilot} up to {n_most} may be needed"
        smaller = "No" if size is None else f"With learning sets of {size} no"
        return (
            f"{plan.n_needed} {settings['units']} are enough for {goal_text}, {far}. {smaller} "
            "smaller sample can be planned."
        )
    size_bounds = [number_text(plan.n_low), number_text(plan.n_high) or "more than ten million"]
    return (
        f"{plan.n_needed} {plan.settings['units']} give {goal_text}{learnt}; given the uncertainty "
        f"of the pilot of {plan.settings['n_pilot']}, {size_bounds[0]} to {size_bounds[1]} may be "
        "needed."
    )


def tables(plan: SamplePlan, *, with_verdict: bool = True) -> Tables:
    """Tables of the question and of the predictions."""
    check_switch("with_verdict", with_verdict)
    statement_grid = Grid(wrapped_rows(_statements(plan)), aligns="l", title=TITLE)
    fact_grid = Grid(in_two_columns(_fact_rows(plan)), aligns="rlr")
    closing = partial(_closing, plan, with_verdict=with_verdict)
    grids = [statement_grid, fact_grid, _predictions(plan)]
    return Tables(grids, closing, partial(_markdown, plan))


def _markdown(plan: SamplePlan) -> str:
    """Verdict, tables and notes as Markdown."""
    fact_rows = [list(pair) for pair in (*_statements(plan), *_fact_rows(plan))]
    notes = "\n".join(f"- {escape_markdown(note)}" for note in plan.notes)
    sections = [
        f"## {TITLE}",
        f"**{escape_markdown(verdict(plan))}**",
        _predictions(plan).markdown(),
        Grid(fact_rows[1:], fact_rows[0], aligns="l").markdown(),
        f"### Notes\n\n{notes}",
    ]
    return "\n\n".join(sections) + "\n"


def _statements(plan: SamplePlan) -> list[tuple[str, str]]:
    settings = plan.settings
    learner_labels = (("Learner", "learner"), ("Other", "other"))
    return [
        ("Estimand", str(settings["estimand"])),
        ("Asked for", goal_in_words(plan)),
        *(
            (label, str(settings[key]))
            for label, key in learner_labels
            if settings.get(key) is not None
        ),
    ]


def _fact_rows(plan: SamplePlan) -> list[tuple[str, str]]:
    settings = plan.settings
    loss = settings.get("loss")
    metric = named_smooth_metric(loss)
    rises = metric is not None and metric.greater_is_better
    return [
        ("Pilot", f"{settings['n_pilot']} {settings['units']}"),
        ("Learning-set size", number_text(settings.get("learn_size")) or "nothing learnt"),
        (kind_in_words(loss, rises=rises), number_text(loss)),
        ("Model fits", str(settings["n_fits"])),
    ]


def _predictions(plan: SamplePlan) -> Grid:
    """One row for each number of observations."""
    columns = {
        name: plan.columns[name].tolist() for name in PLANNED_COLUMNS if name in plan.columns
    }
    cells = []
    for name, values in columns.items():
        places = 3 if name.startswith("power") else 4
        cells.append(list(map(str, values)) if name == "n" else number_column(values, places))
    rows = [list(row) for row in zip(*cells, strict=True)]
    for row, size in zip(rows, columns["n"], strict=True):
        row[0] += " *" if size == plan.n_needed else ""
    header = [HEADINGS.get(name, name.replace("_", " ")) for name in columns]
    marked = " (* the number needed)" if plan.n_needed in columns["n"] else ""
    return Grid(rows, header, title=f"Predictions{marked}")


def _closing(plan: SamplePlan, width: int, *, with_verdict: bool) -> list[str]:
    lines = [*hanging(f"Verdict: {verdict(plan)}", width), ""] if with_verdict else []
    lines.append("Notes:")
    for index, note in enumerate(plan.notes, start=1):
        lines += hanging(f"[{index}] {note}", width)
    return lines
