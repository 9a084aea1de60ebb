"""Columns of the pairs table: what they hold, and that they are part of the address and remembered."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from curation.models import PairScore, ScoreSet, SentenceScore
from tests.factories import PairFactory, ScoreSetFactory, SentenceFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(dataset):
    """A pair with Dice .5, two score sets of pairs, and p_D of one of its sentences."""
    pair = PairFactory(
        dataset=dataset,
        a=SentenceFactory(dataset=dataset, text="A dog runs."),
        b=SentenceFactory(dataset=dataset, text="The dog is fast and a runner."),
        subset="animals",
        source="news",
    )
    first, second = (ScoreSetFactory(dataset=dataset, name=name) for name in ("of people", "of a model"))
    PairScore.objects.create(score_set=first, pair=pair, value=0.25)
    PairScore.objects.create(score_set=second, pair=pair, value=0.75)
    realism = ScoreSetFactory(dataset=dataset, name="human-likeness", kind=ScoreSet.Kind.REALISM)
    SentenceScore.objects.create(score_set=realism, sentence=pair.b, value=0.125)
    return {"pair": pair, "people": first, "model": second, "realism": realism}


@pytest.fixture
def page(client, curator, dataset):
    client.force_login(curator)
    return reverse("curation:dataset", args=[dataset.slug])


def cells(answer) -> dict[str, str]:
    ((_pair, found),) = answer.context["rows"]
    return {cell.column.label: cell.text for cell in found}


def test_the_address_says_which_columns_the_table_has(client, page, scored) -> None:
    names = ["subset", "overlap", "words", f"scores-{scored['people'].pk}", f"scores-{scored['realism'].pk}"]

    answer = client.get(page, {"columns": ",".join(names), "score_set": scored["model"].pk})

    assert cells(answer) == {
        "Subset": "animals",
        "Words in common (Dice)": "0.40",  # 2 shared of 3 and 7 words
        "Words of each sentence": "3 · 7",
        "of people": "0.250",
        "human-likeness": "– · 0.13",
    }
    assert "0.750" in answer.text


def test_without_columns_in_the_address_the_table_shows_the_source(client, page, scored) -> None:
    assert cells(client.get(page)) == {"Source and split": "news"}


def test_chosen_columns_become_a_short_address_and_stay_for_this_person(client, page, scored) -> None:
    kept = client.get(page, {"source": "news", "columns": ["pair", "origin", "overlap"], "keep": "columns"})

    assert kept.url == f"{page}?source=news&columns=origin%2Coverlap"
    assert client.get(page).url == f"{page}?columns=origin%2Coverlap"


def test_going_back_to_the_usual_columns_forgets_the_choice(client, page, scored) -> None:
    client.get(page, {"columns": ["pair", "origin"], "keep": "columns"})

    client.get(page, {"columns": ["pair", "source"], "keep": "columns"})

    assert client.get(page).status_code == 200


def test_all_columns_but_the_sentences_can_be_left_out(client, page, scored) -> None:
    kept = client.get(page, {"columns": "pair", "keep": "columns"})

    assert kept.url == f"{page}?columns=pair"
    assert cells(client.get(kept.url)) == {}


def test_headings_filters_and_pages_keep_the_columns(client, page, scored) -> None:
    answer = client.get(page, {"columns": "overlap"})

    assert 'href="?order=external_id&amp;columns=overlap&amp;"' in answer.text
    assert '<input type="hidden" name="columns" value="overlap"' in answer.text


def test_long_sentences_are_shown_in_full_if_one_wants(client, page, scored) -> None:
    assert "in-two-lines" in client.get(page).text

    answer = client.get(page, {"columns": "source,whole"})

    assert "in-two-lines" not in answer.text
    assert cells(answer) == {"Source and split": "news"}


def test_a_column_that_the_dataset_does_not_have_is_named_and_left_out(client, page, scored) -> None:
    answer = client.get(page, {"columns": "overlap,scores-999999999999999999999,<b>"})

    assert list(cells(answer)) == ["Words in common (Dice)"]
    assert "are left out: &lt;b&gt;, scores-999999999999999999999" in squeezed(answer.text)


def test_columns_of_scores_cost_two_queries_however_many_pairs_there_are(
    client, page, scored, dataset
) -> None:
    for number in range(12):
        PairFactory(dataset=dataset, source=f"s{number % 2}")
    names = ",".join(f"scores-{scored[name].pk}" for name in ("people", "realism"))

    def queries(address: dict[str, str]) -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(page, address, headers={"HX-Request": "true"})
        return len(captured)

    queries({})  # what a process or the cache looks up once
    assert queries({"columns": names}) == queries({}) + 2


def test_scores_from_contexts_can_show_how_many_and_their_interval(client, page, scored) -> None:
    contexts = scored["model"]
    contexts.parameters = {"contexts_of_a_sentence": 20}
    contexts.save(update_fields=["parameters"])
    PairScore.objects.filter(score_set=contexts).update(contexts=31, interval_low=-0.25, interval_high=0.5)
    names = [f"contexts-{contexts.pk}", f"interval-{contexts.pk}"]

    answer = client.get(page, {"columns": ",".join(names), "score_set": contexts.pk})

    assert cells(answer) == {"Contexts, of a model": "31", "95 % interval, of a model": "-0.25 to 0.50"}
    assert "Contexts, of people" not in answer.text
