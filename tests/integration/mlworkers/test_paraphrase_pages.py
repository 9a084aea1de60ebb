"""How a dataset's pairs spread over similarity and BLEU: who sees the page, what it counts, what its file holds."""

import csv
import io

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from curation.models import Pair, PairScore
from mlworkers.science.paraphrasing.tags import TagBounds
from tests.factories import PairFactory, RunFactory, ScoreSetFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
# Similarity and BLEU of each pair; the first three lie in cells of the paper.
LABELS = [(97.0, 3.0), (96.0, 10.0), (72.0, 44.0), (97.0, 60.0), (10.0, 0.0)]


def labelled(dataset, run: int, *, labels=LABELS, **bounds: int):
    """The two score sets of a run, on pairs of their own."""
    tags = TagBounds(**bounds).as_dict()
    names = {"similarity": f"run {run}: similarity", "bleu": f"run {run}: BLEU"}
    sets = [
        ScoreSetFactory(
            dataset=dataset, name=name, kind="model", low=0, high=100, run_ref=run,
            parameters={"label": label, "tags": tags},
        )
        for label, name in names.items()
    ]  # fmt: skip
    for scores in labels:
        pair = PairFactory(dataset=dataset)
        for score_set, value in zip(sets, scores, strict=True):
            PairScore.objects.create(score_set=score_set, pair=pair, value=value)
    return sets


def page(client, user, dataset, name: str = "paraphrases", **asked: object):
    client.force_login(user)
    return client.get(reverse(f"mlworkers:{name}", args=[dataset.slug]), asked)


def cells(answer) -> dict[tuple[str, str], int]:
    rows = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")))
    return {(row["similarity"], row["bleu"]): int(row["pairs"]) for row in rows}


def test_a_stranger_gets_neither_the_page_nor_the_file(client, stranger, dataset) -> None:
    labelled(dataset, 7)

    for name in ("paraphrases", "paraphrase_cells_csv"):
        assert page(client, stranger, dataset, name).status_code == 404


def test_the_page_says_how_many_pairs_lie_in_the_cells(client, curator, dataset) -> None:
    labelled(dataset, 7)

    shown = squeezed(page(client, curator, dataset).content.decode())

    assert "60.0 % of the pairs (3 of 5) lie in one of the 48 marked cells." in shown


def test_the_file_counts_every_cell(client, curator, dataset) -> None:
    labelled(dataset, 7)

    found = cells(page(client, curator, dataset, "paraphrase_cells_csv"))

    assert len(found) == 48
    assert {cell: pairs for cell, pairs in found.items() if pairs} == {
        ("SIM95", "BLEU0_5"): 2,
        ("SIM70", "BLEU40"): 1,
    }


def test_the_bounds_of_the_run_that_made_the_labels_are_used(client, curator, dataset) -> None:
    labelled(dataset, 7, sim_above=0, sim_width=50, bleu_first=50, bleu_width=50, bleu_most=100)

    found = cells(page(client, curator, dataset, "paraphrase_cells_csv"))

    assert found == {
        ("SIM0", "BLEU0"): 1, ("SIM50", "BLEU0"): 3, ("SIM0", "BLEU50"): 0, ("SIM50", "BLEU50"): 1,
    }  # fmt: skip


def test_the_newest_labels_come_first_and_an_address_names_others(client, curator, dataset) -> None:
    labelled(dataset, 7)
    labelled(dataset, 12, labels=[(80.0, 20.0)])

    newest, older = page(client, curator, dataset), page(client, curator, dataset, run=7)

    assert newest.context["chart"].n == 1
    assert older.context["chart"].n == 5


def test_scores_on_another_scale_are_stretched_and_cosines_count_from_0(client, curator, dataset) -> None:
    ratings = ScoreSetFactory(dataset=dataset, name="people", low=0, high=5)
    cosines = ScoreSetFactory(dataset=dataset, name="model", kind="model", low=-1, high=1)
    for rating, cosine in ((5, -0.5), (4, 0.4), (1, 0.9)):
        pair = PairFactory(dataset=dataset)
        PairScore.objects.create(score_set=ratings, pair=pair, value=rating)
        PairScore.objects.create(score_set=cosines, pair=pair, value=cosine)

    asked = {"first": ratings.pk, "second": cosines.pk}
    found = cells(page(client, curator, dataset, "paraphrase_cells_csv", **asked))

    assert {cell: pairs for cell, pairs in found.items() if pairs} == {
        ("SIM95", "BLEU0_5"): 1,
        ("SIM75", "BLEU35"): 1,
    }


def test_retired_pairs_and_pairs_with_one_label_are_not_counted(client, curator, dataset) -> None:
    similarity, _bleu = labelled(dataset, 7)
    Pair.objects.filter(pk=dataset.pairs.last().pk).update(status=Pair.Status.RETIRED)
    PairScore.objects.create(score_set=similarity, pair=PairFactory(dataset=dataset), value=90)

    assert page(client, curator, dataset).context["chart"].n == 4


def test_without_scores_the_page_says_what_to_do(client, staff, curator, dataset) -> None:
    for user, offered in ((staff, True), (curator, False)):
        shown = page(client, user, dataset)
        assert "fewer than two score sets" in squeezed(shown.content.decode())
        assert ("label_paraphrases" in shown.content.decode()) is offered
    assert page(client, curator, dataset, "paraphrase_cells_csv").status_code == 404


def test_sets_that_share_no_pair_are_said(client, curator, dataset) -> None:
    labelled(dataset, 7)
    other = ScoreSetFactory(dataset=dataset, name="other")
    PairScore.objects.create(score_set=other, pair=PairFactory(dataset=dataset), value=0.5)

    shown = page(client, curator, dataset, second=other.pk)

    assert "No active pair has scores in both" in squeezed(shown.content.decode())


def test_the_run_and_the_dataset_lead_to_the_page(client, staff, dataset) -> None:
    run = RunFactory(kind="label_paraphrases", dataset=dataset, state="succeeded")
    labelled(dataset, run.pk)
    address = reverse("mlworkers:paraphrases", args=[dataset.slug])
    client.force_login(staff)

    of_run = client.get(reverse("mlworkers:run_detail", args=[run.pk])).content.decode()
    of_dataset = client.get(reverse("curation:dataset", args=[dataset.slug])).content.decode()

    assert f"{address}?run={run.pk}" in of_run
    assert f'href="{address}"' in of_dataset


def test_more_pairs_need_no_more_queries(client, curator, dataset) -> None:
    labelled(dataset, 7)
    few = _queries(client, curator, dataset, run=7)
    labelled(dataset, 8, labels=LABELS * 4)

    assert _queries(client, curator, dataset, run=8) == few


def _queries(client, user, dataset, run: int) -> int:
    page(client, user, dataset, "paraphrase_cells_csv", run=1)  # the session is there
    cache.clear()
    with CaptureQueriesContext(connection) as found:
        client.get(reverse("mlworkers:paraphrases", args=[dataset.slug]), {"run": run})
    return len(found)
