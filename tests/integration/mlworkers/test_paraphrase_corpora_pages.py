"""Labelled datasets side by side: who sees which, how they are divided, and what the file holds."""

import csv
import io

import numpy as np
import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from scipy import stats

from curation.models import Pair
from mlworkers.science.paraphrasing.estimates import mean_of_groups
from tests.factories import DatasetFactory, client_of
from tests.integration.mlworkers.test_paraphrase_pages import labelled
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


def page(client, user, name: str = "paraphrase_corpora", **asked: object):
    client.force_login(user)
    return client.get(reverse(f"mlworkers:{name}"), asked)


def parts(answer) -> dict[str, int]:
    return {one.label: one.part.profile.pairs for one in answer.context["parts"]}


def test_only_datasets_that_one_may_read_are_offered_and_shown(client, curator, stranger, dataset) -> None:
    secret, _bleu = labelled(DatasetFactory(name="Secret"), 9)
    labelled(dataset, 7)

    shown = page(client, curator, labels=[secret.pk])

    assert "Secret" not in shown.content.decode()
    assert list(parts(shown).values()) == [5]  # its own in place of the other
    assert "None of your datasets has labels" in page(client, stranger, labels=[secret.pk]).content.decode()
    assert page(client, stranger, "paraphrase_corpora_csv", labels=[secret.pk]).content.count(b"\n") == 1


def test_several_datasets_are_beside_each_other_with_one_shade(client, staff, dataset) -> None:
    similarity, _bleu = labelled(dataset, 7)
    other, _bleu = labelled(DatasetFactory(name="Other"), 8, labels=[(97.0, 3.0), (80.0, 20.0)])

    answer = page(client, staff, labels=[similarity.pk, other.pk])

    assert list(parts(answer).values()) == [5, 2]
    first, second = answer.context["charts"]
    assert second.finding == "Other, labels of run 8: 100.0 % in a cell"
    # 50 % of the smaller one is the darkest shade of both: the legend ends there.
    assert all(">50<" in chart.svg for chart in (first, second))


def test_a_dataset_is_divided_by_what_its_pairs_are(client, curator, dataset) -> None:
    similarity, _bleu = labelled(dataset, 7)
    first, second, *_others = dataset.pairs.all()
    Pair.objects.filter(pk__in=[first.pk, second.pk]).update(origin="generated", subset="round trip")

    by_origin = page(client, curator, labels=[similarity.pk], by="origin")
    by_subset = page(client, curator, labels=[similarity.pk], by="subset")

    name = dataset.name
    assert parts(by_origin) == {f"{name}: imported": 3, f"{name}: generated": 2}
    assert parts(by_subset) == {f"{name}: none": 3, f"{name}: round trip": 2}


def test_the_file_counts_every_cell_of_every_part(client, curator, dataset) -> None:
    similarity, _bleu = labelled(dataset, 7)
    Pair.objects.filter(pk=dataset.pairs.first().pk).update(source="news")

    answer = page(client, curator, "paraphrase_corpora_csv", labels=[similarity.pk], by="source")

    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert len(rows) == 2 * 48
    [news] = [row for row in rows if row["part"] == "news" and row["pairs"] != "0"]
    assert (news["similarity"], news["bleu"], news["percent"]) == ("SIM95", "BLEU0_5", "100.0")


def test_nonsense_in_the_address_changes_nothing(client, curator, dataset) -> None:
    labelled(dataset, 7)

    answer = page(client, curator, labels=["x", "-1", "9" * 30], by="password")

    assert answer.status_code == 200
    assert list(parts(answer).values()) == [5]


def test_labels_without_pairs_are_said(client, curator, dataset) -> None:
    labelled(dataset, 7, labels=[])

    assert "No active pair of these datasets" in squeezed(page(client, curator).content.decode())


def test_more_pairs_need_no_more_queries(client, curator, dataset) -> None:
    few, _bleu = labelled(dataset, 7)
    many, _bleu = labelled(dataset, 8, labels=[(97.0, 3.0)] * 40)

    assert queries(client, curator, few) == queries(client, curator, many)


def queries(client, user, similarity) -> int:
    page(client, user, labels=[similarity.pk], by="subset")  # the session is there
    cache.clear()
    with CaptureQueriesContext(connection) as found:
        client.get(reverse("mlworkers:paraphrase_corpora"), {"labels": similarity.pk, "by": "subset"})
    return len(found)


def test_the_page_of_a_dataset_leads_here(curator, dataset) -> None:
    similarity, _bleu = labelled(dataset, 7)

    shown = client_of(curator).get(reverse("mlworkers:paraphrases", args=[dataset.slug])).content.decode()

    assert f"/paraphrases/?labels={similarity.pk}&amp;by=origin" in shown


def test_the_mean_of_independent_rows_has_student_s_interval() -> None:
    values = np.array([3.0, 5.0, 10.0, 4.0])

    found = mean_of_groups(values, np.arange(4))

    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert tuple(found) == pytest.approx((5.5, expected.low, expected.high))
    repeated = mean_of_groups(np.repeat(values, 3), np.repeat(np.arange(4), 3))
    assert tuple(repeated) == pytest.approx(tuple(found))
    assert tuple(mean_of_groups(values, np.zeros(4, dtype=int))) == (5.5, None, None)
