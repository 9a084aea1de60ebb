"""The page of requested and measured tags: who sees it, what it says, and what its file holds."""

import csv
import io
from itertools import product

import pyarrow.parquet as pq
import pytest
from django.urls import reverse

from curation.results.reports import Chart, from_json
from mlworkers.models import Run
from mlworkers.science.paraphrasing.tags import TagBounds
from tests.factories import RunFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
SIMILARITY, BLEU = ("SIM95", "SIM80"), ("BLEU0_5", "BLEU10", "BLEU20")


def figures(hits: float) -> dict[str, float]:
    values = {
        "hit_rate": hits, "near_rate": 2 * hits, "error_of_similarity": 12.25, "error_of_bleu": 10.5,
        "spearman_similarity": 0.375, "spearman_bleu": 0.625, "mean_similarity": 81.5, "mean_bleu": 30.25,
        "gain_of_reranking": 0.125, "times_by_reranking": 1.75,
    }  # fmt: skip
    ends = (("", 0.0), ("_low", -0.03125), ("_high", 0.03125))
    return {f"{name}{end}": value + shift for name, value in values.items() for end, shift in ends}


def requested(dataset, *, rerank: bool = True, other_labeller: bool = False, **facts: object) -> Run:
    """A run that wrote paraphrases of 100 sources at 2 × 3 tags."""
    tags = [
        ("", ""), *((name, "") for name in SIMILARITY), *(("", name) for name in BLEU), *product(SIMILARITY, BLEU)
    ]  # fmt: skip
    rows = [
        {"similarity_tag": one, "bleu_tag": other, "paraphrases": 600 // (1 + bool(one)), **figures(0.25)}
        for one, other in tags
    ]
    profile = {
        "rows": rows,
        "requested": [[*pair, 100] for pair in product(SIMILARITY, BLEU)],
        "measured": [[19, 0, 300], [16, 4, 200], [2, 2, 100]],
    }
    result = {
        "sources": 100, "written": 600, "kept": 550, "chance": 1 / 48, "tags": TagBounds().as_dict(), **figures(0.25),
        "labels_from": "", "profile": profile, **facts,
    }  # fmt: skip
    if rerank:
        profile["likeliest"] = [[19, 0, 150], [10, 12, 450]]
        result |= {
            "without_reranking": figures(0.125), "measured_by_another_labeller": other_labeller,
        }  # fmt: skip
    return RunFactory(kind="write_paraphrases", dataset=dataset, state="succeeded", result=result)


def page(user, run: Run, name: str = "requested"):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]))


def charts_of(answer) -> list[Chart]:
    return next(part.parts for part in answer.context["report"].parts if getattr(part, "across", False))


def test_a_stranger_gets_neither_the_page_nor_the_file(stranger, dataset) -> None:
    run = requested(dataset)

    assert [page(stranger, run, name).status_code for name in ("requested", "requested_csv")] == [404] * 2


def test_a_run_of_another_kind_has_no_such_page(staff, dataset) -> None:
    other = RunFactory(kind="label_paraphrases", dataset=dataset, state="succeeded")

    assert page(staff, other).status_code == 404


@pytest.mark.exhaustive
def test_the_page_says_hits_chance_and_gain_with_their_intervals(curator, dataset) -> None:
    shown = squeezed(page(curator, requested(dataset)).content.decode())

    assert "25.0 % (21.9 to 28.1) of the paraphrases lie in the cell that was requested" in shown
    assert "by chance it would be 2.1 %." in shown
    assert (
        "Reranking adds 12.5 (9.4 to 15.6) percentage points: 1.8 (1.7 to 1.8) times as many hits." in shown
    )


def test_a_labeller_that_judged_its_own_choice_is_disclosed(curator, dataset) -> None:
    said = "The scorer that chose the candidates also measured them"

    own = squeezed(page(curator, requested(dataset)).content.decode())
    other = squeezed(page(curator, requested(dataset, other_labeller=True)).content.decode())

    assert said in own
    assert said not in other


def test_the_benchmark_behind_the_labels_is_disclosed(curator, dataset) -> None:
    shown = squeezed(page(curator, requested(dataset, labels_from="STS-B")).content.decode())

    assert "learned from STS-B" in shown


def test_the_heatmaps_show_what_was_requested_beside_what_was_measured(curator, dataset) -> None:
    charts = charts_of(page(curator, requested(dataset)))

    assert [chart.name for chart in charts] == ["requested", "measured", "without-reranking"]
    asked, measured, before = charts
    assert tuple(asked.rows[0]) == (95, 100, 0, 10, 100, 16.667)
    assert tuple(measured.rows[0]) == (95, 100, 0, 5, 300, 50.0)
    assert measured.finding == "Measured: 25.0 % (21.9 to 28.1) in the cell requested for them"
    assert before.finding.startswith("Without reranking: 12.5 %")
    assert {chart.n for chart in charts} == {600}


def test_without_reranking_nothing_is_said_of_it(curator, dataset) -> None:
    run = requested(dataset, rerank=False)
    for row in run.result["profile"]["rows"]:
        for name in [name for name in row if "reranking" in name]:
            del row[name]
    run.save()

    answer = page(curator, run)

    assert len(charts_of(answer)) == 2
    assert "eranking" not in answer.content.decode()


def test_the_file_has_a_line_for_all_paraphrases_and_for_each_tag(curator, dataset) -> None:
    answer = page(curator, requested(dataset), "requested_csv")

    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert len(rows) == 1 + 2 + 3 + 6
    assert (rows[0]["similarity_tag"], rows[0]["hit_rate"], rows[0]["hit_rate_low"]) == (
        "",
        "0.25",
        "0.21875",
    )
    assert {row["similarity_tag"] for row in rows if row["bleu_tag"] == "BLEU20"} == {"", *SIMILARITY}
    assert rows[-1]["gain_of_reranking_high"] == "0.15625"


def test_figures_that_are_undefined_are_left_empty(curator, dataset) -> None:
    run = requested(dataset)
    for name in ("spearman_bleu", "spearman_bleu_low", "spearman_bleu_high"):
        del run.result["profile"]["rows"][0][name]
    run.save()

    answer = page(curator, run, "requested_csv")

    assert next(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))["spearman_bleu"] == ""
    assert page(curator, run).status_code == 200


def test_the_run_leads_to_the_page(staff, dataset) -> None:
    run = requested(dataset)

    shown = client_of(staff).get(reverse("mlworkers:run_detail", args=[run.pk])).content.decode()

    assert reverse("mlworkers:requested", args=[run.pk]) in shown


def test_a_run_that_has_not_ended_says_so(curator, dataset) -> None:
    run = RunFactory(kind="write_paraphrases", dataset=dataset, state="running", result={})

    assert "The table appears when the run has ended." in page(curator, run).content.decode()


def test_the_figures_are_there_for_papers_and_programs_too(client, curator, dataset) -> None:
    run = requested(dataset)
    client.force_login(curator)
    address = reverse("mlworkers:requested_csv", args=[run.pk])

    files = {
        form: client.get(address, {"as": form}) for form in ("parquet", "markdown", "latex", "json", "xml")
    }

    assert [answer.status_code for answer in files.values()] == [200, 200, 200, 200, 404]
    assert pq.read_table(io.BytesIO(files["parquet"].content)).num_rows == 1 + 2 + 3 + 6
    assert r"| SIM95 BLEU0\_5 | 300 | 25.0 \[21.9, 28.1\] |" in files["markdown"].content.decode()
    assert "SIM95 BLEU0\\_5 & 300 & 25.0 [21.9, 28.1] &" in files["latex"].content.decode()
    assert from_json(files["json"].json()).title == f"Requested and measured, run {run.pk}"
