"""Where a score comes from: the line of a file, the judgements of a campaign, or a run."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest

from curation.datasets.lineage import imports_into, lines_of
from curation.exchange.exporting import snapshot_create, snapshot_path
from curation.exchange.importing import ImportOptions, pairs_import
from curation.models import PairScore
from tests.factories import PairFactory, ScoreSetFactory

pytestmark = pytest.mark.django_db
FIRST = "sentence1,sentence2,score\nA dog runs.,A hound runs.,4.5\n\nA cat sleeps.,It rains.,0.5\n"


@pytest.fixture
def bring(dataset, tmp_path, curator):
    """Imports a CSV file of this text as the curator."""

    def import_text(name: str, text: str):
        path = tmp_path / name
        path.write_text(text)
        options = ImportOptions(scale=(0, 5), source="news", split="")
        pairs_import(dataset=dataset, path=path, options=options, by=curator)
        return hashlib.sha256(text.encode()).hexdigest()

    return import_text


def line_of(score: PairScore) -> tuple[str, int]:
    found = lines_of([score])[score.pk]
    return found.batch.file_name, found.line


def test_a_score_names_the_file_and_the_line_that_gave_it(bring, dataset, curator) -> None:
    digest = bring("first.csv", FIRST)

    scores = list(PairScore.objects.order_by("value"))

    assert [line_of(score) for score in scores] == [("first.csv", 4), ("first.csv", 2)]
    batch = lines_of(scores)[scores[0].pk].batch
    assert (batch.sha256, batch.created_by) == (digest, curator)


def test_a_corrected_score_names_the_file_that_corrected_it_and_others_keep_theirs(bring, dataset) -> None:
    bring("first.csv", FIRST)
    bring(
        "second.csv",
        "sentence1,sentence2,score\nA cat sleeps.,It rains.,1.5\nA dog runs.,A hound runs.,4.5\n",
    )

    by_value = {score.value: line_of(score) for score in PairScore.objects.all()}

    assert by_value == {1.5: ("second.csv", 2), 4.5: ("first.csv", 2)}
    found = imports_into([dataset.score_sets.get()])
    assert [batch.file_name for (batches) in found.values() for batch in batches] == [
        "first.csv",
        "second.csv",
    ]


def test_an_import_without_new_scores_is_not_among_those_of_the_set(bring, dataset) -> None:
    bring("first.csv", FIRST)
    bring("again.csv", FIRST)

    assert [
        batch.file_name for batch in imports_into([dataset.score_sets.get()])[dataset.score_sets.get().pk]
    ] == ["first.csv"]


def test_the_pages_of_pair_and_scores_say_the_file_line_person_and_checksum(
    bring, dataset, client_of, curator
) -> None:
    digest = bring("first.csv", FIRST)
    pair = dataset.pairs.first()

    shown = client_of(curator).get(f"/datasets/{dataset.slug}/pairs/{pair.pk}/").content.decode()
    whole = client_of(curator).get(f"/datasets/{dataset.slug}/").content.decode()

    assert "line 2 of" in shown
    for page in (shown, whole):
        assert f'title="{digest}"' in page
        assert str(curator) in page
        assert f"/datasets/{dataset.slug}/import/{dataset.imports.get().pk}/" in page


def test_staff_who_may_not_open_an_import_get_its_name_and_no_link(bring, dataset, client_of, staff) -> None:
    bring("first.csv", FIRST)
    bring("second.csv", FIRST.replace("4.5", "4.0"))
    pair = dataset.pairs.first()

    page = client_of(staff).get(f"/datasets/{dataset.slug}/pairs/{pair.pk}/").content.decode()

    assert "4.5 → 4" in page
    assert "second.csv" in page
    assert f"/datasets/{dataset.slug}/import/" not in page


def test_programs_read_the_lineage_of_a_score_and_of_a_set(bring, dataset, client_of, curator) -> None:
    digest = bring("first.csv", FIRST)
    pair = dataset.pairs.first()
    made = ScoreSetFactory(dataset=dataset, name="model", kind="model", run_ref=7)
    PairScore.objects.create(score_set=made, pair=pair, value=1.0)
    client = client_of(curator)

    of_pair = client.get(f"/api/v1/datasets/{dataset.slug}/pairs/{pair.pk}/").json()["lineage"]
    sets = client.get(f"/api/v1/datasets/{dataset.slug}/score-sets/").json()["results"]

    file = of_pair["reference"]["file"]
    assert (file["file"], file["line"], file["sha256"], file["by"]) == (
        "first.csv",
        2,
        digest,
        curator.username,
    )
    assert of_pair["model"] == {"judged_by": "", "campaign": None, "run": 7, "file": None}
    lineages = {each["name"]: each["lineage"] for each in sets}
    assert [each["sha256"] for each in lineages["reference"]["files"]] == [digest]
    assert (lineages["model"]["run"], lineages["model"]["files"]) == (7, [])


def test_a_snapshot_keeps_where_its_scores_come_from_and_its_page_says_it(
    bring, dataset, client_of, curator
) -> None:
    digest = bring("first.csv", FIRST)
    snapshot = snapshot_create(dataset=dataset)

    about = json.loads(pq.read_schema(snapshot_path(snapshot)).metadata[b"semblance"])
    page = client_of(curator).get(f"/datasets/{dataset.slug}/snapshots/{snapshot.number}/").content.decode()

    (file,) = about["scores"]["reference"]["files"]
    assert (file["file"], file["sha256"], file["by"]) == ("first.csv", digest, curator.username)
    assert f'title="{digest}"' in page


def test_a_score_of_a_campaign_links_to_the_campaign_and_to_the_judgements_of_the_pair(
    dataset, client_of, curator
) -> None:
    pair = PairFactory(dataset=dataset)
    judged = ScoreSetFactory(dataset=dataset, name="bws", kind="human", campaign_ref=12)
    PairScore.objects.create(score_set=judged, pair=pair, value=0.5)

    page = client_of(curator).get(f"/datasets/{dataset.slug}/pairs/{pair.pk}/").content.decode()

    assert f'href="/campaigns/12/judgements/?pair={pair.pk}"' in page
