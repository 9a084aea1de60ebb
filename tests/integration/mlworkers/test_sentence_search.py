"""Search by meaning: who may search, what is refused, what the page and the API show."""

import pytest
from django.urls import reverse

from mlworkers.models import Artifact, Run
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    PairFactory,
    ScoreSetFactory,
    SentenceFactory,
)
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


def made(dataset, **card: object) -> Artifact:
    about = {"sentences": 40, "model": "packaged:all-MiniLM-L6-v2", "last": 0, **card}
    return ArtifactFactory(
        kind="sentence_index",
        run__kind="index_sentences",
        run__state="succeeded",
        run__dataset=dataset,
        card=about,
    )


@pytest.fixture
def index(dataset) -> Artifact:
    return made(dataset)


def search(client, user, dataset, **values: object):
    client.force_login(user)
    sent = {"sentence": "A dog runs.", **values}
    return client.post(
        reverse("mlworkers:sentence_search", args=[dataset.slug]), sent, headers={"HX-Request": "true"}
    )


def search_by_api(client, user, dataset, **values: object):
    client.force_login(user)
    sent = {"sentence": "A dog runs.", **values}
    return client.post(f"/api/v1/datasets/{dataset.slug}/search/", sent, content_type="application/json")


def searches():
    return Run.objects.filter(kind="search_sentences")


def page(client, user, dataset) -> str:
    client.force_login(user)
    return squeezed(client.get(reverse("mlworkers:sentence_search", args=[dataset.slug])).content.decode())


@pytest.mark.parametrize(
    ("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200), ("staff", 200)]
)
def test_who_reads_the_dataset_may_search_in_it(client, request, dataset, index, person, status) -> None:
    user = request.getfixturevalue(person)

    asked, by_api = search(client, user, dataset), search_by_api(client, user, dataset)

    assert (asked.status_code, by_api.status_code) == (status, 202 if status == 200 else status)
    assert searches().count() == (2 if status == 200 else 0)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"sentence": " "}, "Sentence: Type a sentence."),
        ({"sentence": "x" * 2001}, "2000 characters"),
        ({"most": 101}, "less than or equal to 100"),
        ({"index": 999}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_searched_for_is_refused_at_once(
    client, curator, dataset, index, values, sentence
) -> None:
    asked = search(client, curator, dataset, **values)

    assert sentence in asked.text
    assert search_by_api(client, curator, dataset, **values).status_code == 400
    assert not searches().exists()


def test_the_index_of_another_dataset_is_not_searched(client, curator, dataset, index) -> None:
    other = made(DatasetFactory())

    assert "Select a valid choice" in search(client, curator, dataset, index=other.run_id).text
    assert search_by_api(client, curator, dataset, index=other.run_id).status_code == 400


def test_without_an_index_the_page_says_what_to_do(client, curator, staff, dataset) -> None:
    assert "Ask a member of staff" in page(client, curator, dataset)
    assert reverse("mlworkers:run_start", args=["index_sentences"]) in page(client, staff, dataset)
    assert "has no index" in search_by_api(client, curator, dataset).text


def test_an_index_whose_files_were_removed_is_not_offered(client, curator, dataset, index) -> None:
    Artifact.objects.filter(pk=index.pk).update(removed_at="2026-01-01T00:00Z")

    assert "not indexed yet" in page(client, curator, dataset)


def test_sentences_that_came_after_the_index_are_counted(client, curator, dataset) -> None:
    last = SentenceFactory(dataset=dataset)
    made(dataset, last=last.pk)
    PairFactory(dataset=dataset)

    assert "2 sentences came later and are not found" in page(client, curator, dataset)


@pytest.fixture
def found(client, curator, dataset, index) -> Run:
    """Three sentences: in five pairs, in one, and of another dataset; and one that is gone."""
    reference = ScoreSetFactory(dataset=dataset, name="gold", kind="reference")
    dog, cat = (SentenceFactory(dataset=dataset, text=text) for text in ("The dog runs.", "A cat sits."))
    pairs = [PairFactory(dataset=dataset, a=dog, external_id=f"p{number}") for number in range(3)]
    pairs += [
        PairFactory(dataset=dataset, b=dog, external_id="as second"),
        PairFactory(dataset=dataset, a=cat, b=dog),
    ]
    PairFactory(dataset=dataset, a=cat, status="rejected", external_id="rejected")
    reference.scores.create(pair=pairs[0], value=4.25)
    foreign = SentenceFactory(dataset=DatasetFactory(), text="Not yours.")
    search(client, curator, dataset)
    run = searches().get()
    neighbours = [[dog.pk, 0.9149], [foreign.pk, 0.8], [cat.pk, -0.25], [987_654, -0.5]]
    Run.objects.filter(pk=run.pk).update(state="succeeded", result={"neighbours": neighbours})
    return run


def test_the_answer_has_sentences_their_pairs_with_links_and_scores(client, found, dataset) -> None:
    shown = squeezed(client.get(reverse("mlworkers:sentences_searched", args=[found.pk])).content.decode())

    first = dataset.pairs.get(external_id="p0")
    assert shown.index("The dog runs.") < shown.index("A cat sits.")
    assert "0.915" in shown
    assert "−0.250" in shown
    assert reverse("curation:pair", args=[dataset.slug, first.pk]) in shown
    assert "gold: 4.25" in shown
    assert shown.count("and more") == 1  # four pairs of five are not shown twice
    assert "Not yours." not in shown
    rejected = dataset.pairs.get(external_id="rejected")
    assert reverse("curation:pair", args=[dataset.slug, rejected.pk]) not in shown


def test_programs_get_the_same(client, found, dataset) -> None:
    answer = client.get(f"/api/v1/searches/{found.pk}/").json()

    assert [one["sentence"] for one in answer["sentences"]] == ["The dog runs.", "A cat sits."]
    dog, cat = answer["sentences"]
    assert [pair["id"] for pair in dog["pairs"]] == ["p0", "p1", "p2"]
    assert dog["pairs"][0]["scores"] == [{"score_set": "gold", "value": 4.25}]
    assert (dog["more"], cat["more"], len(cat["pairs"])) == (True, False, 1)


def test_what_one_person_searched_for_is_shown_to_nobody_else(
    client, found, owner, staff, curator, dataset
) -> None:
    def status(user) -> int:
        client.force_login(user)
        return client.get(f"/api/v1/searches/{found.pk}/").status_code

    assert [status(user) for user in (curator, owner, staff)] == [200, 404, 404]
    dataset.memberships.filter(user=curator).delete()
    assert status(curator) == 404


def test_an_answer_of_many_sentences_asks_as_many_queries_as_one_of_few(
    client, found, dataset, django_assert_max_num_queries
) -> None:
    more = [PairFactory(dataset=dataset).a for _ in range(30)]
    neighbours = [[sentence.pk, 0.5] for sentence in more]
    Run.objects.filter(pk=found.pk).update(result={"neighbours": neighbours})

    with django_assert_max_num_queries(9):
        client.get(reverse("mlworkers:sentences_searched", args=[found.pk]), headers={"HX-Request": "true"})


def test_an_answer_that_is_opened_by_itself_stands_under_the_form_that_asked(client, found) -> None:
    shown = client.get(reverse("mlworkers:sentences_searched", args=[found.pk])).text

    assert "<h1>Search by meaning</h1>" in shown
    assert found.plan["sentence"] in shown.split("<textarea")[1].split("</textarea>")[0]
    assert "The dog runs." in shown.split('id="found"')[1]


def test_a_search_that_failed_says_why(client, curator, found) -> None:
    Run.objects.filter(pk=found.pk).update(state="failed", message="The index is gone.")

    address = reverse("mlworkers:sentences_searched", args=[found.pk])
    shown = client.get(address, headers={"HX-Request": "true"}).text

    assert "The index is gone." in shown
    assert "hx-trigger" not in shown


def test_searches_stand_in_no_list(client, staff, found) -> None:
    client.force_login(staff)
    pages = [client.get(address).text for address in ("/runs/", "/api/v1/runs/", "/runs/start/")]

    assert [text for text in pages if "search_sentences" in text] == []
