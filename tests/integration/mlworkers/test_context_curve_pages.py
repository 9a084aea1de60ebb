"""The page of curves of contexts: its points, what they say, and who sees it."""

from typing import Any

import pytest
from django.urls import reverse

from curation.models import Dataset
from mlworkers.models import Run
from tests.factories import RunFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


def point(x: int, value: float | None, difference: float | None = None, **more: object) -> dict[str, Any]:
    """With intervals of .1 on each side."""
    figures: dict[str, Any] = {"x": x, "own": 90, "pairs": 80}
    for name, figure in (("spearman", value), ("difference", difference)):
        ends = ("low", "high") if name == "spearman" else (f"{name}_low", f"{name}_high")
        figures[name] = figure
        figures |= dict(
            zip(ends, (None, None) if figure is None else (figure - 0.1, figure + 0.1), strict=True)
        )
    return figures | more


def measured(dataset: Dataset, **more: object) -> Run:
    """The corpus matters, the number of contexts does not, and no surrogate was trained."""
    result = {
        "corpus_sizes": [point(10_000, 0.12, -0.3, informs=False), point(292_000, 0.42, informs=True)],
        "context_counts": [point(5, 0.40, -0.02), point(20, 0.42)],
        "surrogate_sizes": [],
    }
    plan = {"score_set": "people", "corpus": 4}
    return RunFactory(
        kind="measure_context_curves", dataset=dataset, state="succeeded", plan=plan, result=result | more
    )


def page(user, run: Run, name: str = "context_curves"):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]))


def test_each_curve_says_whether_its_ends_differ(curator, dataset) -> None:
    answer = page(curator, measured(dataset))

    corpus, contexts = (section.parts[0].finding for section in answer.context["report"].parts[:2])
    assert corpus == (
        "Spearman 0.120 with 10,000 sentences, 0.420 with 292,000. The interval of the difference excludes 0."
    )
    assert contexts.endswith("The interval of the difference includes 0.")
    assert "so their scores carry no information: 10,000" in squeezed(answer.text)
    assert answer.text.count("<svg") >= 2


def test_a_curve_without_correlations_has_a_table_and_no_chart(curator, dataset) -> None:
    answer = page(curator, measured(dataset, corpus_sizes=[point(10, None), point(20, None)]))

    assert answer.text.count("<svg") == 1
    assert "There is no correlation" in answer.text


def test_a_curve_of_one_point_says_its_figure(curator, dataset) -> None:
    answer = page(curator, measured(dataset, context_counts=[point(20, 0.42)]))

    assert "Spearman 0.420 with 20 contexts." in answer.text


def test_the_file_has_every_point(curator, dataset) -> None:
    lines = page(curator, measured(dataset), "context_curves_csv").text.splitlines()

    assert lines[0].startswith("curve,x,spearman,low,high,difference")
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["corpus_sizes", "10000"], ["corpus_sizes", "292000"], ["context_counts", "5"], ["context_counts", "20"]
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["context_curves", "context_curves_csv"])
def test_who_may_not_read_the_dataset_gets_404(stranger, dataset, name) -> None:
    assert page(stranger, measured(dataset), name).status_code == 404


def test_a_run_of_another_kind_has_no_such_page(curator, dataset) -> None:
    run = RunFactory(kind="score_contexts", dataset=dataset, state="succeeded")

    assert page(curator, run).status_code == 404


def test_a_run_that_waits_says_that_its_table_comes_later(curator, dataset) -> None:
    run = RunFactory(kind="measure_context_curves", dataset=dataset, state="queued")

    assert "The table appears when the run has ended" in page(curator, run).text
