"""A program creates a dataset, compares score sets, publishes a snapshot, and reads long lists page by page."""

import io
import zipfile
from urllib.parse import urlsplit

import pytest
from django.test import Client

from curation.exchange.exporting import snapshot_create
from curation.models import AuditEntry, Dataset, ImportBatch, PairScore, ReviewDecision
from mlworkers.models import Artifact, Evaluation
from semblance.publishing import folder
from tests.factories import (
    ArtifactFactory,
    CampaignFactory,
    EvaluationFactory,
    GeneratedPairFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    program_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(owner) -> Client:
    return program_of(owner)


@pytest.fixture
def scored(dataset):
    """Six pairs that two score sets rank alike but for the last two."""
    pairs = PairFactory.create_batch(6, dataset=dataset)
    for name, values in {"people": [0, 1, 2, 3, 4, 5], "file": [0, 1, 2, 3, 5, 4]}.items():
        made = ScoreSetFactory(dataset=dataset, name=name)
        PairScore.objects.bulk_create(
            PairScore(score_set=made, pair=pair, value=value)
            for pair, value in zip(pairs, values, strict=True)
        )
    return dataset


def walked(program: Client, address: str, limit: int = 2) -> list[dict]:
    """Every row of a list, page by page; no page is asked for by offset."""
    rows, following = [], f"{address}{'&' if '?' in address else '?'}limit={limit}"
    while following:
        answer = program.get(following).json()
        rows += answer["results"]
        following = answer["next"]
        if following:
            assert "after=" in following
            assert "offset" not in following
            following = urlsplit(following)._replace(scheme="", netloc="").geturl()
    return rows


# A dataset


def test_a_program_creates_a_dataset_and_is_its_owner(program, owner) -> None:
    body = {"slug": "news", "name": "News", "language": "en", "licence": "CC-BY-4.0"}

    answer = program.post("/api/v1/datasets/", body, content_type="application/json")

    made = Dataset.objects.get(slug="news")
    assert answer.status_code == 201
    assert (answer.json()["slug"], answer.json()["licence"]) == ("news", "CC-BY-4.0")
    assert made.memberships.get().user == owner
    assert AuditEntry.objects.get(dataset=made).via == "token"


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"slug": "new", "name": "New"}, "slug", "is reserved"),
        ({"name": "News"}, "slug", "required"),
        ({"slug": "taken", "name": "Taken"}, "slug", "Another dataset has this short name"),
        ({"slug": "news", "name": "News", "owner": "me"}, "owner", "no such parameter"),
    ],
)
def test_a_dataset_that_cannot_be_created_is_refused_beside_the_field(program, body, field, sentence) -> None:
    Dataset.objects.create(slug="taken", name="Taken")

    answer = program.post("/api/v1/datasets/", body, content_type="application/json")

    assert answer.status_code == 400
    assert sentence in answer.json()[field][0]
    assert Dataset.objects.filter(slug__startswith="new").count() == 0


def test_an_annotator_creates_no_dataset(annotator) -> None:
    body = {"slug": "news", "name": "News"}

    answer = program_of(annotator).post("/api/v1/datasets/", body, content_type="application/json")

    assert answer.status_code == 403
    assert not Dataset.objects.filter(slug="news").exists()


# Agreement


def test_a_program_renames_withdraws_and_restores_scores(program, scored) -> None:
    lists = f"/api/v1/datasets/{scored.slug}/score-sets/"
    address = f"{lists}{scored.score_sets.get(name='people').pk}/"

    renamed = program.patch(address, {"title": "Relatedness"}, "application/json").json()
    withdrawn = program.post(f"{address}withdraw/", {"why": "Wrong."}, "application/json").json()
    listed = [row["name"] for row in program.get(lists).json()["results"]]
    still_there = program.get(address).json(), program.get(f"{address}scores/").json()["results"]
    restored = program.post(f"{address}restore/").json()

    assert (renamed["name"], renamed["title"]) == ("people", "Relatedness")
    assert (withdrawn["withdrawn_why"], withdrawn["withdrawn_by"]) == ("Wrong.", "owner")
    assert listed == ["file"]
    assert still_there[0] == withdrawn
    assert len(still_there[1]) == 6
    assert (restored["withdrawn_at"], restored["title"]) == (None, "Relatedness")


def test_two_score_sets_are_compared_as_on_the_page(program, scored) -> None:
    people, file = (scored.score_sets.get(name=name) for name in ("people", "file"))

    found = program.get(f"/api/v1/datasets/{scored.slug}/score-sets/{people.pk}/agreement/{file.pk}/").json()

    # Two neighbours of six changed places: 1 - 6 * (1 + 1) / (6 * 35).
    assert found["spearman"]["value"] == pytest.approx(1 - 12 / 210)
    assert (found["pairs"], found["first"]["name"], found["second"]["name"]) == (6, "people", "file")
    assert sum(one["spearman"]["n"] for one in found["bins"]) == 6
    assert [one["first"] for one in found["largest"][:2]] == [4, 5]


def test_a_score_set_is_compared_with_another_one_of_the_same_dataset_alone(program, scored) -> None:
    people, foreign = scored.score_sets.get(name="people"), ScoreSetFactory()
    address = f"/api/v1/datasets/{scored.slug}/score-sets/{people.pk}/agreement/"

    itself, other = program.get(f"{address}{people.pk}/"), program.get(f"{address}{foreign.pk}/")

    assert (itself.status_code, other.status_code) == (400, 404)
    assert "always agrees with itself" in itself.json()["detail"]


# Publishing


def test_a_program_publishes_a_snapshot_as_a_folder_and_as_a_methods_section(program, scored) -> None:
    snapshot_create(dataset=scored)
    address = f"/api/v1/datasets/{scored.slug}/snapshots/1/"

    answer = program.get(f"{address}folder.zip?score_set=people&authors=Ada%20Lovelace%0AGrace%20Hopper")
    files = program.get(f"{address}methods/?score_set=people").json()["files"]

    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as packed:
        texts = {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
    assert {"README.md", "CITATION.cff", "manifest.json", "METHODS.md"} <= texts.keys()
    assert b"Hopper" in texts["CITATION.cff"]
    assert set(files) == {"METHODS.md", "methods.tex", "references.bib"}
    assert files["METHODS.md"].encode() == texts["METHODS.md"]


@pytest.mark.parametrize(
    ("who", "part", "status"),
    [
        ("owner", "snapshots/1/folder.zip?score_set=nobody", 400),
        ("owner", "snapshots/1/folder.zip?author=me", 400),
        ("owner", "snapshots/1/methods/?score_set=nobody", 400),
        ("owner", "snapshots/9/folder.zip", 404),
        ("annotator", "snapshots/1/folder.zip", 403),
        ("annotator", "snapshots/1/methods/", 403),
        ("stranger", "snapshots/1/methods/", 404),
    ],
)
def test_publishing_is_refused_as_on_the_page(request, scored, who, part, status) -> None:
    snapshot_create(dataset=scored)

    answer = program_of(request.getfixturevalue(who)).get(f"/api/v1/datasets/{scored.slug}/{part}")

    assert answer.status_code == status


def test_a_folder_that_takes_long_names_the_command(program, scored, monkeypatch) -> None:
    snapshot_create(dataset=scored)
    monkeypatch.setattr(folder, "MOST_PAIRS", 5)

    answer = program.get(f"/api/v1/datasets/{scored.slug}/snapshots/1/folder.zip")

    assert answer.status_code == 400
    assert f"semblance publish_dataset {scored.slug} --snapshot 1" in answer.json()["detail"]


# The licence


@pytest.mark.parametrize(("format_", "separator"), [("csv", ","), ("tsv", "\t")])
def test_an_export_has_the_licence_in_its_last_column_and_in_a_header(
    program, scored, format_, separator
) -> None:
    Dataset.objects.update(licence="CC BY-SA 4.0, © us")

    answer = program.get(f"/api/v1/datasets/{scored.slug}/export/?format={format_}")
    plain = program.get(f"/api/v1/datasets/{scored.slug}/export/?format={format_}&plain=true")

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].endswith(f"{separator}licence")
    assert all("CC BY-SA 4.0, © us" in line for line in lines[1:])
    assert answer["Export-Licence"] == plain["Export-Licence"] == "CC BY-SA 4.0, %C2%A9 us"
    assert "licence" not in b"".join(plain.streaming_content).decode()


def test_a_dataset_without_a_licence_has_no_such_column(program, scored) -> None:
    answer = program.get(f"/api/v1/datasets/{scored.slug}/export/?format=jsonl")

    assert "Export-Licence" not in answer
    assert b'"licence"' not in b"".join(answer.streaming_content)


# Long lists


def test_long_lists_continue_after_the_last_row(program, dataset, owner) -> None:
    for number in range(5):
        PairFactory(dataset=dataset)
        snapshot_create(dataset=dataset)
        ImportBatch.objects.create(dataset=dataset, file_name=f"{number}.csv")
        CampaignFactory(dataset=dataset)
    run = RunFactory(dataset=dataset, started_by=owner)
    for number in range(5):
        ArtifactFactory(run=run, path=f"runs/{run.pk}/1/{number}")
        EvaluationFactory(run=run, suite=str(number))
    here = f"/api/v1/datasets/{dataset.slug}"

    assert [row["number"] for row in walked(program, f"{here}/snapshots/")] == [5, 4, 3, 2, 1]
    for address, rows in {
        f"{here}/imports/": ImportBatch.objects,
        "/api/v1/campaigns/": dataset.campaigns,
        "/api/v1/artifacts/": Artifact.objects,
        "/api/v1/evaluations/": Evaluation.objects,
    }.items():
        expected = list(rows.order_by("-pk").values_list("pk", flat=True))
        assert [row["id"] for row in walked(program, address)] == expected


@pytest.mark.parametrize("frame", ["lowest", "random"])
def test_a_program_that_judges_as_it_reads_misses_no_sentence(program, dataset, frame) -> None:
    for place in range(5):
        GeneratedPairFactory(dataset=dataset, p_d=place // 2 / 10)
    queue = f"/api/v1/datasets/{dataset.slug}/review/"

    seen, following = [], f"{queue}?limit=2&frame={frame}&size=5"
    while following:
        answer = program.get(following).json()
        for row in answer["results"]:
            seen.append(row["pair"])
            verdict = {"pair": row["pair"], "verdict": "keep", "frame": frame}
            verdict["client_id"] = f"00000000-0000-4000-8000-{row['pair']:012d}"
            sent = program.post(f"{queue}decisions/", verdict, content_type="application/json")
            assert sent.status_code == 200
        following = answer["next"] and urlsplit(answer["next"])._replace(scheme="", netloc="").geturl()

    decided = walked(program, f"{queue}decisions/")
    assert sorted(seen) == sorted(dataset.pairs.values_list("pk", flat=True))
    assert [row["id"] for row in decided] == sorted(
        ReviewDecision.objects.values_list("pk", flat=True), reverse=True
    )


@pytest.mark.parametrize("frame", ["lowest", "random"])
def test_a_queue_does_not_continue_after_a_pair_that_it_does_not_have(program, dataset, frame) -> None:
    GeneratedPairFactory(dataset=dataset, p_d=0.1)
    other = PairFactory(dataset=dataset)
    queue = f"/api/v1/datasets/{dataset.slug}/review/"

    unknown = program.get(f"{queue}?frame={frame}&size=5&after={other.pk}")
    foreign = program.get(f"{queue}?frame={frame}&size=5&after={PairFactory().pk}")

    assert (unknown.status_code, foreign.status_code) == (400, 404)
