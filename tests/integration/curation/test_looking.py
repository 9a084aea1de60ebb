"""What describes a dataset at a glance, and two score sets beside each other."""

import csv
import io

import pytest
from django.utils.timezone import now

from curation.datasets.agreement import sets_compared
from curation.datasets.overview import Part, Parts, dataset_overview
from curation.datasets.pair_charts import lengths_chart, overlap_chart
from curation.datasets.selectors import dataset_facts, score_sets_in_order, score_sets_of
from curation.datasets.services import score_set_withdraw
from curation.exchange.exporting import pairs_export, snapshot_create
from curation.exchange.importing import ImportOptions, pairs_import
from curation.forms.exchange import ExportForm
from curation.foundation.errors import UserError
from curation.models import AuditEntry, PairScore
from tests.factories import GeneratedPairFactory, PairFactory, ScoreSetFactory, SentenceFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_sets(dataset, fill):
    """Scores of sixty pairs in the set gold, and in the set other the same upside down on the scale 0 to 1."""
    gold = fill(60)
    other = ScoreSetFactory(dataset=dataset, name="other", low=0, high=1)
    PairScore.objects.bulk_create(
        PairScore(score_set=other, pair=each.pair, value=1 - each.value / 10) for each in gold.scores.all()
    )
    return gold, other


def row_of(score_set):
    return next(row for row in score_sets_of(score_set.dataset) if row.score_set == score_set)


def test_sources_and_splits_of_active_pairs_are_counted(dataset, fill) -> None:
    fill(7)
    dataset.pairs.filter(external_id="pair-0").update(status="rejected")

    overview = dataset_overview(dataset)

    assert overview.active == 6
    assert overview.sources.named == [Part("captions", 2), Part("forums", 2), Part("news", 2)]
    assert overview.splits.named == [Part("test", 3), Part("train", 3)]


def test_many_sources_are_named_by_size_and_the_others_counted() -> None:
    parts = Parts.of([Part(f"source {n}", n) for n in range(1, 8)])

    assert [part.pairs for part in parts.named] == [7, 6, 5, 4]
    assert (parts.others, parts.pairs_of_others) == (3, 6)


def test_a_single_other_source_is_named_too() -> None:
    assert Parts.of([Part(f"source {n}", n) for n in range(1, 6)]).others == 0


def test_human_likeness_is_the_median_of_machine_written_sentences(dataset) -> None:
    for value in (0.1, 0.3, 0.8, 0.9):
        GeneratedPairFactory(dataset=dataset, p_d=value)

    found = dataset_overview(dataset).human_likeness

    assert (found.median, found.sentences) == (pytest.approx(0.55), 4)


def test_a_dataset_without_p_d_says_nothing_of_human_likeness(dataset, fill) -> None:
    fill(2)

    assert dataset_overview(dataset).human_likeness is None


def test_the_page_of_a_large_dataset_describes_it_afterwards(
    dataset, fill, curator, client_of, monkeypatch
) -> None:
    monkeypatch.setattr("curation.datasets.overview.DESCRIBED_AT_ONCE", 3)
    fill(4)
    client = client_of(curator)

    page = client.get(f"/datasets/{dataset.slug}/").content.decode()
    glance = client.get(f"/datasets/{dataset.slug}/glance/").content.decode()
    charts = client.get(f"/datasets/{dataset.slug}/charts/").content.decode()

    assert f'hx-get="/datasets/{dataset.slug}/glance/?' in page
    assert f'hx-get="/datasets/{dataset.slug}/charts/?' in page
    assert "n = 4 pairs" not in page
    assert "captions" in glance
    assert "n = 4 pairs" in charts


def test_word_overlap_is_drawn_with_its_correlation_and_interval(dataset) -> None:
    score_set = ScoreSetFactory(dataset=dataset, name="gold")
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    for shared in range(10):
        second = [*words[:shared], *(f"{word}s" for word in words[shared:])]
        a, b = (
            SentenceFactory(dataset=dataset, text=" ".join(text) + f" {shared}") for text in (words, second)
        )
        PairScore.objects.create(
            score_set=score_set, pair=PairFactory(dataset=dataset, a=a, b=b), value=shared / 2
        )

    chart = overlap_chart(row_of(score_set))

    assert chart.finding == "Word overlap goes with “gold”: Spearman 1.00 (1.00 to 1.00)."
    assert chart.n == 10


def test_sentence_lengths_are_counted_in_words(dataset) -> None:
    texts = ["One two three.", "One two three four five.", "One.", "One two three four five six."]
    sentences = [SentenceFactory(dataset=dataset, text=text) for text in texts]
    PairFactory(dataset=dataset, a=sentences[0], b=sentences[1])
    PairFactory(dataset=dataset, a=sentences[2], b=sentences[3])

    chart = lengths_chart(dataset)

    assert chart.rows == [[0, 0], [1, 1], [2, 0], [3, 1], [4, 0], [5, 1], [6, 1]]
    assert "50% have 5 to 25" in chart.finding


def test_an_empty_dataset_has_no_charts(dataset) -> None:
    assert lengths_chart(dataset) is None
    assert overlap_chart(row_of(ScoreSetFactory(dataset=dataset))) is None


def test_two_score_sets_are_compared_over_their_common_active_pairs(two_sets) -> None:
    gold, other = two_sets
    gold.dataset.pairs.filter(external_id="pair-0").update(status="rejected")
    other.scores.filter(pair__external_id="pair-1").delete()

    found = sets_compared(row_of(gold), row_of(other))

    assert found.n == 58
    assert found.agreement.spearman.value == pytest.approx(-1)


def test_a_changed_score_is_not_hidden_by_what_was_kept(two_sets) -> None:
    gold, other = two_sets
    before = sets_compared(row_of(gold), row_of(other))
    other.scores.update(value=0.5)

    after = sets_compared(row_of(gold), row_of(other))

    assert before.agreement.spearman.value is not None
    assert after.agreement.spearman.value is None


def test_the_page_shows_correlations_bins_and_the_largest_differences(
    two_sets, dataset, curator, client_of
) -> None:
    gold, other = two_sets

    page = client_of(curator).get(f"/datasets/{dataset.slug}/score-sets/?first={gold.pk}&second={other.pk}")
    page = squeezed(page.content.decode())

    assert "rank the pairs with Spearman's correlation of -1.000" in page.replace("&#x27;", "'")
    assert "1 to 20 of 60" in page
    assert "Sentence a of pair 50." in page  # the highest by gold, so the lowest by other


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("", None),
        ("first=&second=", None),
        (
            "first=9999999&second=x",
            "score sets that this dataset does not have, or that have no scores: 9999999, x.",
        ),
        ("first=-1", "a score set that this dataset does not have, or that has no scores: -1."),
        ("second=" + "9" * 40, f"that has no scores: {'9' * 40}."),
    ],
)
def test_sets_that_are_not_there_are_named_and_give_way_to_the_first_two(
    two_sets, dataset, curator, client_of, query, named
) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/score-sets/"
    page = squeezed(client.get(f"{address}?{query}").content.decode())

    assert "Largest differences" in page
    assert ("The address names" in page, named is None or named in page) == (named is not None, True)
    assert client.get(f"{address}differences.csv?{query}").status_code == (200 if named is None else 404)


def test_a_score_set_is_not_compared_with_itself(two_sets, dataset, curator, client_of) -> None:
    gold, other = two_sets
    client, query = client_of(curator), f"first={other.pk}&second={other.pk}"

    page = squeezed(client.get(f"/datasets/{dataset.slug}/score-sets/?{query}").content.decode())
    file = client.get(f"/datasets/{dataset.slug}/score-sets/differences.csv?{query}")

    assert f"“{other.name}” was chosen twice, and a score set always agrees with itself." in page
    assert f"The page compares it with “{gold.name}”." in page
    assert file.status_code == 404


def test_a_score_set_of_another_dataset_is_not_shown(two_sets, dataset, curator, client_of) -> None:
    foreign = ScoreSetFactory(name="somebody else's")

    page = client_of(curator).get(f"/datasets/{dataset.slug}/score-sets/?first={foreign.pk}").content.decode()

    assert "somebody else" not in page


def test_a_single_score_set_cannot_be_compared(dataset, fill, curator, client_of) -> None:
    fill(3)

    page = client_of(curator).get(f"/datasets/{dataset.slug}/score-sets/").content.decode()
    file = client_of(curator).get(f"/datasets/{dataset.slug}/score-sets/differences.csv")

    assert "fewer than two score sets with scores" in page
    assert file.status_code == 404


def test_the_file_holds_every_pair_and_is_safe_for_a_spreadsheet_on_demand(
    two_sets, dataset, curator, client_of
) -> None:
    gold, other = two_sets
    pair = dataset.pairs.get(external_id="pair-3")
    pair.a = SentenceFactory(dataset=dataset, text="=1+1")
    pair.save()
    address = f"/datasets/{dataset.slug}/score-sets/differences.csv?first={gold.pk}&second={other.pk}"

    plain, safe = (
        list(csv.DictReader(io.StringIO(b"".join(client_of(curator).get(address + end)).decode())))
        for end in ("", "&spreadsheet=1")
    )

    assert len(plain) == 60
    sizes = [abs(float(row["rank_difference"])) for row in plain]
    assert sizes == sorted(sizes, reverse=True)
    assert {row["sentence1"] for row in plain} - {row["sentence1"] for row in safe} == {"=1+1"}


def withdraw(score_set, by=None) -> None:
    score_set_withdraw(score_set=score_set, why="The question was wrong.", at=now(), by=by)


def test_an_owner_gives_scores_another_name_on_pages_and_files_keep_the_first(
    two_sets, owner, dataset, client_of, tmp_path
) -> None:
    gold, _other = two_sets
    client, address = client_of(owner), f"/datasets/{dataset.slug}/score-sets/{gold.pk}/"

    page = client.post(address, {"title": "Relatedness", "description": "Of 2026."}, follow=True)
    pairs_export(dataset=dataset, path=tmp_path / "out.csv", format="csv", plain=True)

    assert "The score set is saved." in page.content.decode()
    assert "Of 2026." in page.content.decode()
    gold.refresh_from_db()
    assert (gold.name, str(gold)) == ("gold", "Relatedness")
    assert "gold" in (tmp_path / "out.csv").read_text().splitlines()[0]
    assert "Relatedness" in client.get(f"/datasets/{dataset.slug}/").content.decode()
    assert AuditEntry.objects.filter(action="scores_described", by=owner, subject="gold").exists()


def test_withdrawn_scores_are_offered_nowhere_and_stay_at_their_address(
    two_sets, owner, dataset, client_of, tmp_path
) -> None:
    gold, other = two_sets
    earlier = snapshot_create(dataset=dataset)
    client, address = client_of(owner), f"/datasets/{dataset.slug}/score-sets/{gold.pk}/"

    client.post(f"{address}move/", {"why": "The question was wrong."})
    page = squeezed(client.get(address).content.decode())
    later = snapshot_create(dataset=dataset)
    pairs_export(dataset=dataset, path=tmp_path / "all.csv", format="csv", plain=True)
    pairs_export(dataset=dataset, path=tmp_path / "one.csv", format="csv", score_set="gold")

    assert f"by {owner}" in page
    assert "The question was wrong." in page
    assert score_sets_in_order(dataset) == [row.score_set for row in score_sets_of(dataset)] == [other]
    assert dataset_facts(dataset, now=True).score_sets == 1
    assert [name for name, _ in ExportForm(dataset).fields["score_set"].choices] == ["", "other"]
    assert (tmp_path / "all.csv").read_text().splitlines()[0].endswith("split,other")
    assert (tmp_path / "one.csv").read_text().count("\n") == 61
    shown = client.get(f"/datasets/{dataset.slug}/?score_set={gold.pk}").content.decode()
    assert "gold (withdrawn)" in shown
    assert "gold" in client.get(f"/datasets/{dataset.slug}/snapshots/{earlier.number}/").content.decode()
    assert "gold" not in client.get(f"/datasets/{dataset.slug}/snapshots/{later.number}/").content.decode()
    compared = client.get(f"/datasets/{dataset.slug}/score-sets/?first={gold.pk}&second={other.pk}")
    assert "gold (withdrawn)" in compared.content.decode()


def test_withdrawn_scores_are_restored(two_sets, owner, dataset, client_of) -> None:
    gold, _other = two_sets
    withdraw(gold, by=owner)

    page = client_of(owner).post(f"/datasets/{dataset.slug}/score-sets/{gold.pk}/move/", follow=True)

    assert "The score set is restored." in page.content.decode()
    gold.refresh_from_db()
    assert (gold.withdrawn_at, gold.withdrawn_by, gold.withdrawn_why) == (None, None, "")
    assert gold in score_sets_in_order(dataset)
    logged = AuditEntry.objects.filter(dataset=dataset, action__startswith="scores_").order_by("pk")
    assert [each.action for each in logged] == ["scores_withdrawn", "scores_restored"]


def test_scores_are_withdrawn_with_a_reason_and_by_an_owner_alone(
    two_sets, owner, curator, dataset, client_of
) -> None:
    gold, _other = two_sets
    address = f"/datasets/{dataset.slug}/score-sets/{gold.pk}/"

    refused = [
        client_of(curator).post(f"{address}move/", {"why": "No."}),
        client_of(curator).post(address, {"title": "x"}),
        client_of(owner).post(f"{address}move/", {"why": " "}),
        client_of(owner).post(f"{address}move/", {"why": "x" * 301}),
    ]

    assert [answer.status_code for answer in refused] == [403, 403, 400, 400]
    assert "at most 300 characters (it has 301)" in refused[3].content.decode()
    gold.refresh_from_db()
    assert (gold.withdrawn_at, gold.title) == (None, "")
    assert "Withdraw the scores" not in client_of(curator).get(address).content.decode()


def test_a_file_adds_no_scores_to_withdrawn_ones(two_sets, dataset, tmp_path) -> None:
    gold, _other = two_sets
    withdraw(gold)
    path = tmp_path / "more.csv"
    path.write_text("sentence1,sentence2,score\nA.,B.,1\n")

    with pytest.raises(UserError, match="“gold” was withdrawn"):
        pairs_import(dataset=dataset, path=path, options=ImportOptions(score_set="gold"))
