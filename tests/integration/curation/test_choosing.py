"""Choosing among the pairs of a dataset on the page and by a program: what is shown is what is changed, and undone."""

from collections import Counter

import pytest

from curation.datasets.choosing import Choice, choice_apply, choice_preview
from curation.datasets.edits import edit_undo
from curation.foundation.errors import UserError
from curation.models import AuditEntry, Pair, PairScore
from curation.pairs.sampling.drawing import Settings, Strategy
from tests.factories import ScoreSetFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
SETTINGS = {"shortest": 0, "seed": 3}
BINS = (0, 1, 2, 3, 4, 5)
FORM = {
    "strategy": "score", "score_set": "gold", "bins": "", "count": 10, "shortest": 0, "longest": 25, "cap": 1,
    "seed": 3, "low": 25, "high": 75, "share_of": "first", "length_difference": 25, "buckets": 3, "growth": 1,
    "then": "aside",
}  # fmt: skip


@pytest.fixture
def gold(dataset, fill):
    """Sixty pairs with scores from 0 to 5, twelve in each unit but the last, of three sources and two splits."""
    return fill(60)


def choice(gold, **changed) -> Choice:
    settings = Settings(Strategy.SCORE, 10, edges=BINS, **SETTINGS)
    return Choice(**{"settings": settings, "score_set": gold} | changed)


def test_each_bin_gives_equally_many_and_the_others_are_set_aside(dataset, gold) -> None:
    preview = choice_preview(dataset, choice(gold))
    before = dataset.pairs.filter(status="active").count()

    entry = choice_apply(dataset=dataset, choice=choice(gold), state=preview.state, by=None)

    kept = dataset.pairs.filter(status="active")
    values = PairScore.objects.filter(score_set=gold, pair__in=kept).values_list("value", flat=True)
    assert before == 60
    assert Counter(min(int(value), 4) for value in values) == dict.fromkeys(range(5), 2)
    assert (entry.pairs, dataset.pairs.filter(status="retired").count()) == (50, 50)
    assert entry.details["filter"] == {
        "status": "active", "chosen": "all but the chosen", "strategy": "score", "seed": 3, "count": 10,
        "score_set": "gold", "edges": "0, 1, 2, 3, 4, 5", "cap": 1, "shortest": 0, "longest": 25,
    }  # fmt: skip


def test_the_chosen_pairs_get_a_split_and_the_edit_is_undone(dataset, gold) -> None:
    splits = dict(dataset.pairs.values_list("pk", "split"))

    entry = choice_apply(
        dataset=dataset, choice=choice(gold, source="news", becomes="judge"), state=None, by=None
    )

    chosen = dataset.pairs.filter(split="judge")
    assert {pair.source for pair in chosen} == {"news"}
    assert chosen.count() == entry.pairs == 10
    assert not dataset.pairs.exclude(status="active").exists()
    edit_undo(entry=entry, by=None)
    assert dict(dataset.pairs.values_list("pk", "split")) == splits


def test_words_choose_pairs_without_any_score(dataset, gold) -> None:
    settings = Settings(Strategy.PERCENTILES, 6, buckets=2, **SETTINGS)

    choice_apply(dataset=dataset, choice=choice(gold, settings=settings, score_set=None), state=None, by=None)

    assert dataset.pairs.filter(status="active").count() == 6


def test_a_score_that_an_encoder_gave_makes_bands_of_similarity(dataset, gold) -> None:
    cosines = ScoreSetFactory(dataset=dataset, name="cosine", kind="model", low=-1, high=1)
    pairs = list(dataset.pairs.order_by("pk"))
    for number, pair in enumerate(pairs):
        PairScore.objects.create(score_set=cosines, pair=pair, value=number / 60)
    settings = Settings(Strategy.SCORE, 4, edges=(0, 0.5, 1), **SETTINGS)

    preview = choice_preview(dataset, choice(cosines, settings=settings))

    strata = [(one.name, one.available, one.drawn) for one in preview.drawn.sample.strata]
    assert strata == [("[0, 0.5)", 30, 2), ("[0.5, 1]", 30, 2)]


def test_pairs_without_the_score_are_not_among_those_that_could_be_chosen(dataset, gold) -> None:
    PairScore.objects.filter(score_set=gold, pair__source="news").delete()

    preview = choice_preview(dataset, choice(gold))

    assert (preview.drawn.usable, len(preview.drawn.candidates)) == (40, 40)


def test_nothing_is_changed_where_a_score_has_changed_since_the_preview(dataset, gold) -> None:
    preview = choice_preview(dataset, choice(gold))
    score = PairScore.objects.filter(score_set=gold).first()
    score.value = 4.9
    score.save()

    with pytest.raises(UserError, match="have changed since the preview"):
        choice_apply(dataset=dataset, choice=choice(gold), state=preview.state, by=None)
    assert not dataset.pairs.exclude(status="active").exists()


def test_a_choice_of_nothing_and_of_too_many_pairs_is_refused(dataset, gold, monkeypatch) -> None:
    nothing = Settings(Strategy.SCORE, 10, edges=(6, 7), **SETTINGS)

    with pytest.raises(UserError, match="No pair fits the settings"):
        choice_apply(dataset=dataset, choice=choice(gold, settings=nothing), state=None, by=None)
    monkeypatch.setattr("curation.datasets.choosing.MOST_ON_A_PAGE", 59)
    with pytest.raises(UserError, match=r"more than 59 pairs.*Choose a source or a split"):
        choice_preview(dataset, choice(gold))


def test_the_page_from_a_preview_to_the_edit(dataset, gold, client_of, curator) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/compose/pairs/"

    preview = client.post(address, FORM)
    shown = squeezed(preview.content.decode())
    state = preview.context["preview"].state
    done = squeezed(client.post(address, FORM | {"state": state, "add": "yes"}, follow=True).content.decode())

    assert "Preview: 10 pairs, nothing is changed yet" in shown
    assert "60 pairs can be sampled" in shown
    assert ">[4, 5]</th>" in shown, "five equal parts of the scale, as no bins were given"
    assert "50 pairs were excluded. You can undo this edit here." in done
    assert Pair.objects.filter(status="active").count() == 10


def test_the_page_shows_what_a_new_split_would_share(dataset, gold, client_of, curator) -> None:
    first, second = dataset.pairs.order_by("pk")[:2]
    second.a = first.a
    second.save()

    sent = FORM | {"then": "split", "split_name": "judge", "count": 58}
    page = client_of(curator).post(f"/datasets/{dataset.slug}/compose/pairs/", sent)

    assert "What the splits share after it" in squeezed(page.content.decode())


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"score_set": ""}, "Choose the scores whose bins give equally many pairs."),
        ({"bins": "3,2"}, "The edges of bins must rise: 3, 2."),
        ({"bins": "low"}, "“low” are no edges of bins"),
        ({"then": "split"}, "Give the split that the chosen pairs get."),
        ({"strategy": "labels"}, "Select a valid choice."),
    ],
)
def test_a_wrong_setting_is_told(dataset, gold, client_of, curator, changed, sentence) -> None:
    page = client_of(curator).post(f"/datasets/{dataset.slug}/compose/pairs/", FORM | changed)

    assert sentence in squeezed(page.content.decode())
    assert not AuditEntry.objects.filter(action="pairs_edited").exists()


def test_a_program_sees_and_chooses_what_the_page_does(dataset, gold, client_of, curator) -> None:
    client, address = client_of(curator), f"/api/v1/datasets/{dataset.slug}/compose/pairs/"
    asked = {"strategy": "score", "score_set": "gold", "bins": "0,2.5,5", "count": 6, "shortest": 0}

    shown = client.post(f"{address}preview/", asked, content_type="application/json").json()
    made = client.post(address, asked | {"state": shown["state"]}, content_type="application/json")
    stale = client.post(address, asked | {"state": shown["state"]}, content_type="application/json")
    wrong = client.post(address, asked | {"score_set": "none"}, content_type="application/json")

    assert (shown["pairs"], shown["usable"], shown["leaks"]) == (6, 60, None)
    assert [(one["name"], one["drawn"]) for one in shown["strata"]] == [("[0, 2.5)", 3), ("[2.5, 5]", 3)]
    assert (made.status_code, made.json()["pairs"]) == (201, 54)
    assert (stale.status_code, wrong.status_code) == (400, 400)
    assert "score_set" in wrong.json()


def test_choosing_is_for_those_who_may_curate(dataset, gold, client_of, annotator, stranger) -> None:
    for person, status in ((annotator, 403), (stranger, 404)):
        client = client_of(person)
        for address in (
            f"/datasets/{dataset.slug}/compose/pairs/",
            f"/api/v1/datasets/{dataset.slug}/compose/pairs/",
        ):
            assert client.post(address, FORM).status_code == status


def test_a_dataset_without_pairs_says_where_they_come_from(dataset, client_of, curator) -> None:
    page = client_of(curator).get(f"/datasets/{dataset.slug}/compose/pairs/").content.decode()

    assert "The dataset has no pairs to choose from." in page
