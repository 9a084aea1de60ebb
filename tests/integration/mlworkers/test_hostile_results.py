"""Names and texts in the stored results of runs stay text on their pages, in their charts and in their files."""

from typing import Any

import pytest
from django.test import RequestFactory
from django.urls import resolve, reverse

from curation.results.reports import Report, Section
from curation.results.tables import Column, Table
from mlworkers.kinds.language import language
from mlworkers.models import Run
from tests.factories import RunFactory
from tests.integration.semblance.hostile_texts import FORMULA, alive_in, formulas_in, markup

pytestmark = pytest.mark.django_db

TEXT = FORMULA + markup("result") + "\x1b[31m\\input{a}$"
ONE = {"value": 0.5, "low": 0.4, "high": 0.6}


def cross_validation() -> dict[str, Any]:
    one = ONE | {"pairs": 60, "sd": 0.01}
    figures = {
        "mean": one,
        "mean_pearson": one,
        "pooled": one,
        "by_fold": {TEXT: one},
        "by_source": {TEXT: one},
    }
    methods = [{"method": method, "unseen": figures, **figures} for method in ("dice", "fine-tuned")]
    protocol = {
        "protocol": "components", "folds": [{"fold": TEXT, "pairs": 60, "leakage": 0.2}], "leakage": 0.2,
        "unseen_pairs": 48, "methods": methods,
    }  # fmt: skip
    source = {"source": TEXT, "pairs": 60, "mean": 0.5, "deviation": 0.1}
    return {
        "snapshot": 1, "pairs": 60, "protocols": [protocol], "sources": [source], "trainings": [], "seeds": [4, 5],
        "seen_before": 1, "ceiling": 0.9, "ceiling_low": 0.8, "ceiling_high": 0.95, "ceiling_source": TEXT,
        "warnings": [TEXT],
    }  # fmt: skip


def relatedness() -> dict[str, Any]:
    facts = {"pairs": 60, "without_vector": 0} | dict.fromkeys(("own", "overlap", "partial", "common"), ONE)
    regression = {
        "coefficients": [{"name": TEXT, "estimate": ONE, "inflation": 1.0}], "explained": ONE, "by_overlap": ONE,
    }  # fmt: skip
    return {
        "pairs": 60, "common_pairs": 60, "features": [{"question": "Q2", "name": TEXT, **facts}],
        "regression": [regression], "warnings": [TEXT],
    }  # fmt: skip


def context_curves() -> dict[str, Any]:
    point = {"x": 10, "own": 90, "pairs": 80, "spearman": 0.5, "low": 0.4, "high": 0.6, "informs": True}
    point |= {"difference": 0.1, "difference_low": 0.0, "difference_high": 0.2}
    curves = {name: [point] for name in ("corpus_sizes", "context_counts", "surrogate_sizes")}
    return curves | {"warnings": [TEXT], "note": TEXT}


RESULTS = {
    "cross_validation": ("cross_validate_encoder", cross_validation),
    "relatedness": ("analyse_relatedness", relatedness),
    "context_curves": ("measure_context_curves", context_curves),
}


@pytest.fixture
def run_of(dataset):
    def run_of(name: str) -> Run:
        kind, result = RESULTS[name]
        plan = {"score_set": TEXT, "model": TEXT, "corpus": 4}
        return RunFactory(
            kind=kind, dataset=dataset, state="succeeded", result=result(), plan=plan, message=TEXT
        )

    return run_of


@pytest.mark.parametrize("name", RESULTS)
def test_a_text_of_a_result_is_no_markup_on_the_pages_of_its_run(client, owner, run_of, name: str) -> None:
    client.force_login(owner)
    run = run_of(name)

    for address in (f"mlworkers:{name}", "mlworkers:run_detail"):
        page = client.get(reverse(address, args=[run.pk]))
        assert page.status_code == 200
        assert alive_in(page.content.decode()) == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_text_of_a_result_is_no_formula_in_a_file_for_spreadsheets(
    client, owner, run_of, name: str
) -> None:
    client.force_login(owner)

    table = client.get(reverse(f"mlworkers:{name}_csv", args=[run_of(name).pk]), {"spreadsheet": "1"})

    content = b"".join(table.streaming_content) if table.streaming else table.content
    assert formulas_in(content.decode()) == []


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("markdown", [r"## 5%\_ \| \<b\> x ± \[1\]", r"| 5%\_ \| \<b\> x ± \[1\] |"]),
        (
            "latex",
            [
                r"% 5\%\_ \textbar{} \textless{}b\textgreater{} x \ensuremath{\pm} [1]",
                r"5\%\_ \textbar{} \textless{}b\textgreater{} x \ensuremath{\pm} [1] \\",
            ],
        ),
    ],
)
def test_a_name_stays_text_on_one_line_in_headings_and_cells_of_markdown_and_latex(
    form: str, lines: list[str], rf: RequestFactory, owner, dataset, monkeypatch
) -> None:
    name = "5%_ | <b>\nx ± [1]"
    report = Report(name, parts=[Section(name, [Table([Column("name", form="text")], [[name]])])])
    run = RunFactory(kind="analyse_language", dataset=dataset)
    request = rf.get("/", {"as": form})
    request.user = owner
    view, _, known = resolve(reverse("mlworkers:language_csv", args=[run.pk]))
    monkeypatch.setattr(language, "language_report", lambda _run, _reader: report)

    written = view(request, **known).content.decode().splitlines()

    assert [line for line in written if line in lines] == lines
    assert not [line for line in written if line.startswith(("x", "<"))]
