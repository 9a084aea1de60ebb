"""A published folder: what its files hold and say, that libraries read it, its command and its page."""

import io
import json
import re
import runpy
import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace

import datasets
import mlcroissant
import pyarrow.parquet as pq
import pytest
import yaml
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.results.publishing import scores_publish
from curation.exchange.exporting import snapshot_create
from curation.files.manifest import manifest_faults
from curation.files.publishing.texts import questions
from curation.foundation.command import Error
from curation.foundation.errors import UserError
from curation.models import Pair, PairScore, Snapshot
from semblance.publishing.folder import dataset_publish
from tests.conftest import rolled_back
from tests.factories import (
    DatasetFactory,
    GeneratedPairFactory,
    PairFactory,
    ScoreSetFactory,
    UserFactory,
    client_of,
)
from tests.integration.annotation.crowd import crowd_judge
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker):
    """Forty judged pairs in two splits, and the scores of their campaign."""
    with rolled_back(django_db_blocker):
        dataset = DatasetFactory(
            slug="rel", name="Relatedness", licence="CC BY 4.0", description="Pairs of news."
        )
        given = [PairFactory(dataset=dataset, split=("train", "test")[n % 2]) for n in range(40)]
        campaign = crowd_judge(dataset, given=given)
        yield scores_publish(campaign=campaign), campaign


@pytest.fixture
def campaign(judged_once):
    return type(judged_once[1]).objects.get(pk=judged_once[1].pk)


@pytest.fixture
def dataset(campaign, db):
    gold = ScoreSetFactory(dataset=campaign.dataset, name="gold", method="expert")
    PairScore.objects.create(score_set=gold, pair=campaign.dataset.pairs.first(), value=4.5)
    GeneratedPairFactory(dataset=campaign.dataset)
    return campaign.dataset


@pytest.fixture
def snapshot(dataset) -> Snapshot:
    return snapshot_create(dataset=dataset)


@pytest.fixture
def folder(snapshot, tmp_path) -> Path:
    dataset_publish(snapshot=snapshot, path=tmp_path / "rel", authors=["Anna Author"])
    return tmp_path / "rel"


def rows_of(folder: Path, name: str) -> list[dict[str, object]]:
    return [
        row for path in sorted((folder / "data" / name).iterdir()) for row in pq.read_table(path).to_pylist()
    ]


def metadata(folder: Path) -> dict[str, object]:
    return yaml.safe_load((folder / "README.md").read_text().split("---\n")[1])


def test_each_scored_pair_has_its_score_error_judgements_and_method(folder, judged_once) -> None:
    published = {row["id"]: row for row in rows_of(folder, "scored")}

    assert len(published) == 40
    for score in judged_once[0].scores.select_related("pair__a"):
        row = published[score.pair.external_id]
        assert row["sentence1"] == score.pair.a.text
        assert (row["score"], row["standard_error"], row["judgements"]) == (
            score.value,
            score.standard_error,
            score.judgements,
        )
        assert (row["method"], row["kind"], row["judged_by"], row["origin"]) == (
            "counting",
            "human",
            "people",
            "imported",
        )


def test_other_scores_and_pairs_without_a_score_are_configurations_of_their_own(folder) -> None:
    (other,) = rows_of(folder, "other_scores")
    (unscored,) = rows_of(folder, "unscored")

    assert (other["score_set"], other["score"], other["high"], other["method"]) == (
        "gold",
        4.5,
        5.0,
        "expert",
    )
    assert (unscored["origin"], unscored["sentence2_origin"]) == ("generated", "machine")


def test_the_library_datasets_loads_every_configuration(folder, tmp_path) -> None:
    rows = {
        config["config_name"]: datasets.load_dataset(
            str(folder), config["config_name"], cache_dir=str(tmp_path / "cache")
        ).num_rows
        for config in metadata(folder)["configs"]
    }

    assert rows["scored"] == {"train": 20, "test": 20}
    assert rows["judgements"] == {"train": 320}
    assert rows["tuples"] == {"train": 80}
    assert rows.keys() == {"scored", "unscored", "other_scores", "tuples", "judgements"}


def test_judgements_name_published_pairs_and_no_person(folder, campaign) -> None:
    published = {row["id"] for row in rows_of(folder, "scored")}
    judgements = rows_of(folder, "judgements")

    assert {row["annotator"] for row in judgements} == {"A001", "A002", "A003", "A004"}
    assert {row[f"item{place}"] for row in judgements for place in range(1, 5)} == published
    assert all(row["best"] in {row[f"item{place}"] for place in range(1, 5)} for row in judgements)
    for path in folder.rglob("*"):
        texts = path.read_bytes() if path.is_file() else b""
        assert not any(name.encode() in texts for name in ("anna", "cleo"))


def test_the_readme_is_written_from_the_data(folder, judged_once) -> None:
    text, facts = (folder / "README.md").read_text(), metadata(folder)
    reliability = judged_once[0].parameters["reliability"]

    assert (facts["license"], facts["language"], facts["size_categories"]) == ("cc-by-4.0", ["en"], ["n<1K"])
    assert facts["language_creators"] == ["found", "machine-generated"]
    assert (
        f"split-half reliability {reliability['spearman_mean']:.3f} (Spearman, mean of 1,000 random halves"
        in text
    )
    assert f"{reliability['spearman_brown']:.3f} for all judgements by the Spearman-Brown formula" in text
    assert "Judgements: 320 count, 0 were extra, 0 excluded" in text
    assert "generated pairs without a decision: 1" in text
    assert "imulated" not in text


def test_the_folder_says_what_its_splits_share(folder, dataset, tmp_path) -> None:
    train, test = (dataset.pairs.filter(split=split).first() for split in ("train", "test"))
    test.a = train.a
    test.save()
    dataset_publish(snapshot=snapshot_create(dataset=dataset), path=tmp_path / "leaks", authors=[])
    sentence = "1 of the 20 pairs of test (5.0%) share a sentence with train."

    sound, leaking = ((tmp_path / name / "README.md").read_text() for name in ("rel", "leaks"))

    assert "No split shares a sentence with another." in sound
    assert f"* {sentence}" in leaking
    assert sentence in (tmp_path / "leaks" / "croissant.json").read_text()


def test_scores_of_simulated_annotators_carry_the_mark_in_the_files_and_the_readme(
    campaign, dataset, tmp_path
) -> None:
    UserFactory._meta.model.objects.filter(participations__campaign=campaign).update(simulated=True)
    scores_publish(campaign=campaign, name="by programs")
    snapshot = snapshot_create(dataset=dataset)

    published = dataset_publish(snapshot=snapshot, path=tmp_path / "marked")

    scored = rows_of(tmp_path / "marked", "scored")
    assert {row["judged_by"] for row in scored} == {"simulated annotators"}
    assert {row["judged_by"] for row in rows_of(tmp_path / "marked", "judgements")} == {
        "simulated annotators"
    }
    path = tmp_path / "marked" / "data" / "scored" / "train.parquet"
    about = json.loads(pq.read_schema(path).metadata[b"semblance"])
    assert [each["simulated"] for each in about["scores"]] == [4, 0, 0]
    facts = metadata(tmp_path / "marked")
    assert (facts["annotations_creators"], facts["tags"]) == (["machine-generated"], ["simulated-annotators"])
    assert "> **Simulated annotators.**" in (tmp_path / "marked" / "README.md").read_text()
    assert published.publication.simulated


def test_a_score_that_was_corrected_since_the_snapshot_keeps_its_value_and_loses_its_error(
    snapshot, judged_once, tmp_path
) -> None:
    changed, kept = judged_once[0].scores.order_by("pair")[:2]
    PairScore.objects.filter(pk=changed.pk).update(value=0.123, standard_error=0.5)

    dataset_publish(snapshot=snapshot, path=tmp_path / "rel")

    rows = {row["id"]: row for row in rows_of(tmp_path / "rel", "scored")}
    corrected, other = rows[changed.pair.external_id], rows[kept.pair.external_id]
    assert (corrected["score"], corrected["standard_error"]) == (changed.value, None)
    assert (other["score"], other["standard_error"]) == (kept.value, kept.standard_error)


def test_the_same_snapshot_gives_the_same_bytes_and_the_manifest_lists_every_file(
    folder, snapshot, tmp_path
) -> None:
    dataset_publish(snapshot=snapshot, path=tmp_path / "again", authors=["Anna Author"])

    assert (folder / "manifest.json").read_bytes() == (tmp_path / "again" / "manifest.json").read_bytes()
    assert manifest_faults(folder) == []


def test_ids_that_two_sources_share_are_told_apart(dataset, tmp_path) -> None:
    first, second = dataset.pairs.order_by("pk")[:2]
    Pair.objects.filter(pk=first.pk).update(external_id="1", source="news", split="train")
    Pair.objects.filter(pk=second.pk).update(external_id="1", source="forums", split="train")

    dataset_publish(snapshot=snapshot_create(dataset=dataset), path=tmp_path / "rel")

    ids = [row["id"] for row in rows_of(tmp_path / "rel", "scored")]
    items = {row["item1"] for row in rows_of(tmp_path / "rel", "judgements")}
    assert {"news/train/1", "forums/train/1"} <= set(ids)
    assert len(set(ids)) == 40
    assert items <= set(ids)


def test_the_citation_names_authors_and_licence(folder, snapshot, tmp_path) -> None:
    cited = yaml.safe_load((folder / "CITATION.cff").read_text())
    dataset_publish(snapshot=snapshot, path=tmp_path / "nobody")
    unnamed = yaml.safe_load((tmp_path / "nobody" / "CITATION.cff").read_text())

    assert (cited["authors"], cited["license"], cited["type"]) == (
        [{"name": "Anna Author"}],
        "CC-BY-4.0",
        "dataset",
    )
    assert unnamed["authors"] == [{"name": "Contributors to Relatedness"}]


# From the guide to the Citation File Format 1.2.0: the keys of a file, and what an entry must have.
CFF_KEYS = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords",
    "license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "title", "type", "url", "version",
}  # fmt: skip
CFF_IDENTIFIERS = {"doi", "url", "swh", "other"}


def test_the_citation_is_what_the_citation_file_format_asks_for(dataset, tmp_path) -> None:
    dataset.name, dataset.source_address = "Pairs: a “test” #1\n- yes", "https://example.org/pairs"
    dataset.save()
    authors = ["Anna: Author", "- 1", "שלום", "2026-01-01", "null"]
    dataset_publish(snapshot=snapshot_create(dataset=dataset), path=tmp_path / "rel", authors=authors)

    cited = yaml.safe_load((tmp_path / "rel" / "CITATION.cff").read_text(encoding="utf-8"))

    assert cited.keys() <= CFF_KEYS
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] in {"dataset", "software"}
    texts = ("cff-version", "message", "title", "version", "date-released", "url", "license")
    assert all(isinstance(cited[name], str) and cited[name] for name in texts)
    assert cited["title"] == dataset.name
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", cited["date-released"])
    assert cited["authors"] == [{"name": author} for author in authors]
    for identifier in cited["identifiers"]:
        assert identifier.keys() <= {"type", "value", "description"}
        assert identifier["type"] in CFF_IDENTIFIERS
        assert identifier["value"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # mlcroissant uses what rdflib deprecates
def test_mlcroissant_reads_every_table_and_finds_no_fault(folder) -> None:
    described = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))

    assert described.metadata.issues.report() == ""
    scored = list(described.records("scored/test"))
    assert len(scored) == 20
    assert {row["scored/test/judgements"] for row in scored} == {32}
    assert sum(1 for _row in described.records("judgements/train")) == 320
    assert (
        described.metadata.annotations_per_item
        == "Relatedness: each pair in 8 tuples, 4 judgements per tuple"
    )
    assert described.metadata.data_limitations == ["1 generated pair was not reviewed by a person."]


def test_the_data_statement_is_filled_from_campaigns_and_asks_the_rest(folder) -> None:
    text = (folder / "DATA_STATEMENT.md").read_text()

    assert "> Choose by meaning." in text
    assert "\n\n* source not stated, imported: 40\n* run 7, generated by run 7: 1\n\n" in text
    assert "“Relatedness” was judged from 2026-03-02 to 2026-03-02." in text
    assert "Licence: CC BY 4.0" in text
    assert "Which datasets do the sentences come from?" in questions(text)
    assert not any("licence" in question for question in questions(text))


def test_the_task_of_mteb_reads_the_folder_with_the_bounds_of_its_scores(
    folder, tmp_path, monkeypatch
) -> None:
    """The modules of mteb are too large to install for a test; docs/experiments/mteb_task.py runs the real ones."""
    sts, metadata = ModuleType("mteb.abstasks.sts"), ModuleType("mteb.abstasks.task_metadata")
    sts.AbsTaskSTS, metadata.TaskMetadata = object, SimpleNamespace
    for module in (ModuleType("mteb"), ModuleType("mteb.abstasks"), sts, metadata):
        monkeypatch.setitem(sys.modules, module.__name__, module)

    task = runpy.run_path(str(folder / "mteb_task.py"))["Rel"]

    assert (task.min_score, task.max_score) == (0, 1)
    assert (task.metadata.eval_splits, task.metadata.eval_langs) == (["test"], ["eng-Latn"])
    asked = task.metadata.dataset
    rows = datasets.load_dataset(
        asked["path"], asked["name"], split="test", cache_dir=str(tmp_path / "cache")
    )
    assert {"sentence1", "sentence2", "score"} <= set(rows.column_names)


def test_an_earlier_folder_gives_way_and_anything_else_stays(folder, snapshot) -> None:
    dataset_publish(snapshot=snapshot, path=folder, score_set="gold")
    assert [row["score"] for row in rows_of(folder, "scored")] == [4.5]
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: main")

    with pytest.raises(UserError, match=r"holds \.git/HEAD, which Semblance did not publish"):
        dataset_publish(snapshot=snapshot, path=folder)

    assert (folder / ".git" / "HEAD").read_text() == "ref: main"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dataset": "nothing"}, "There is no dataset “nothing”"),
        ({"snapshot": 9}, "rel has no snapshot 9"),
        (
            {"score_set": "silver"},
            "has no scores “silver”. Its score sets: “human: Relatedness, counting”, “gold”.",
        ),
    ],
)
def test_the_command_refuses_in_one_sentence(options, sentence, snapshot, tmp_path) -> None:
    asked = {"dataset": "rel", "to": tmp_path / "rel", **options}

    with pytest.raises((Error, UserError), match=sentence):
        call_command("publish_dataset", asked.pop("dataset"), **asked)

    assert not (tmp_path / "rel").exists()


def test_a_snapshot_without_scores_is_not_published(tmp_path) -> None:
    pair = PairFactory(dataset=DatasetFactory())

    with pytest.raises(UserError, match="No pair of snapshot 1 has a score"):
        dataset_publish(snapshot=snapshot_create(dataset=pair.dataset), path=tmp_path / "none")


def test_the_command_says_what_it_wrote(snapshot, tmp_path, capsys) -> None:
    call_command("publish_dataset", "rel", to=tmp_path / "rel", json=True)

    line, figures = capsys.readouterr().out.splitlines()
    assert line == f"Snapshot 1 of rel is written to {tmp_path / 'rel'}: 40 scored pairs, 1 without a score."
    assert json.loads(figures)["configurations"] == {
        "scored": 40,
        "unscored": 1,
        "other_scores": 1,
        "tuples": 80,
        "judgements": 320,
    }


def test_the_command_makes_a_snapshot_if_asked_to(snapshot, tmp_path, capsys) -> None:
    call_command("publish_dataset", "rel", "--new-snapshot", "--json", to=tmp_path / "rel")

    assert json.loads(capsys.readouterr().out.splitlines()[-1])["snapshot"] == 2


@pytest.fixture
def client(owner) -> Client:
    return client_of(owner)


def test_the_page_shows_the_scores_and_hands_out_the_folder(client, snapshot, dataset) -> None:
    page = squeezed(client.get(f"/datasets/{dataset.slug}/publish/").content.decode())
    asked = {"score_set": "gold", "authors": "Anna Author\n\nBen Author\n"}
    answer = client.get(f"/datasets/{dataset.slug}/publish/{snapshot.number}/folder.zip", asked)

    assert "human: Relatedness, counting" in page
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert "rel-1/manifest.json" in archive.namelist()
    cited = yaml.safe_load(archive.read("rel-1/CITATION.cff"))
    assert [author["name"] for author in cited["authors"]] == ["Anna Author", "Ben Author"]


def test_the_page_says_what_is_missing(client, dataset) -> None:
    address = f"/datasets/{dataset.slug}/publish/"

    assert "No snapshots yet" in client.get(address).content.decode()

    snapshot = snapshot_create(dataset=dataset)
    refused = client.get(f"{address}{snapshot.number}/folder.zip", {"score_set": "silver"})
    assert "silver is not one of the available choices" in refused.content.decode()
    type(dataset).objects.update(licence="")
    assert "The licence is not stated" in client.get(address).content.decode()


def test_a_large_snapshot_is_left_to_the_command(client, snapshot, dataset, monkeypatch) -> None:
    monkeypatch.setattr("semblance.publishing.folder.MOST_PAIRS", 10)

    page = client.get(f"/datasets/{dataset.slug}/publish/").content.decode()
    answer = client.get(f"/datasets/{dataset.slug}/publish/1/folder.zip")

    assert "semblance publish_dataset rel --snapshot 1" in page
    assert "Download the folder" not in page
    assert "too large for a page" in answer.content.decode()


@pytest.mark.parametrize(
    ("who", "status"), [("curator", 200), ("staff", 403), ("annotator", 403), ("stranger", 404)]
)
def test_judgements_of_people_are_for_curators_and_owners(who, status, snapshot, dataset, request) -> None:
    client = client_of(request.getfixturevalue(who))

    for address in ("", "1/folder.zip?score_set=gold"):
        answer = client.get(f"/datasets/{dataset.slug}/publish/{address}")
        assert answer.status_code == status
        b"".join(getattr(answer, "streaming_content", ()))  # closes the file that is sent


def test_more_score_sets_take_no_more_queries(client, snapshot, dataset, campaign) -> None:
    with CaptureQueriesContext(connection) as before:
        client.get(f"/datasets/{dataset.slug}/publish/")
    for number in range(3):
        more = ScoreSetFactory(dataset=dataset, name=f"more {number}", kind="human", campaign_ref=campaign.pk)
        PairScore.objects.create(score_set=more, pair=dataset.pairs.first(), value=1)
    snapshot_create(dataset=dataset)

    with CaptureQueriesContext(connection) as after:
        page = client.get(f"/datasets/{dataset.slug}/publish/").content.decode()

    assert "more 2" in page
    assert len(after) <= len(before)
