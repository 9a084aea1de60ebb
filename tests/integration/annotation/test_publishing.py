"""What leaves a campaign: score sets by each method, strata, and the bundle that gives the same scores again."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils.timezone import now

from annotation.bws.files.judgement_files import read_judgements
from annotation.campaigns.services import guideline_save
from annotation.judging.settling import participation_stop
from annotation.models import Campaign, TupleItem
from annotation.results.bundle import bundle_write
from annotation.results.importing import judgements_record
from annotation.results.publishing import scores_publish, strata_publish
from annotation.results.works import work_carry_out
from curation.files.manifest import manifest_faults
from curation.foundation.errors import UserError
from curation.models import Dataset, PairScore, ScoreSet
from tests.conftest import rolled_back
from tests.factories import DatasetFactory, GoldFactory, PairFactory, client_of
from tests.integration.annotation.crowd import CARELESS, STEADY, crowd_judge
from tests.integration.annotation.pages import address, text_of
from tests.markup import HOSTILE, elements_in, html_of

METHODS = ["counting", "bradley-terry", "maxdiff"]


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker) -> Iterator[Campaign]:
    """40 pairs judged four times a tuple; careless eve is excluded, with a reason that names her."""
    people = {"anna": STEADY, "ben": STEADY, "cleo": STEADY, "eve-smith": CARELESS}
    with rolled_back(django_db_blocker):
        campaign = crowd_judge(DatasetFactory(), people=people)
        eve = campaign.participations.get(user__username="eve-smith")
        participation_stop(participation=eve, reason="Eve-Smith answers at random.", exclude=True)
        guideline_save(campaign=campaign, text="Choose by meaning, not by words.")
        yield campaign


@pytest.fixture
def dataset(judged) -> Dataset:
    return judged.dataset


@pytest.fixture
def bundle(judged, tmp_path):
    return bundle_write(campaign=judged, path=tmp_path / "bundle").path


def rows_of(path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method", METHODS)
def test_each_method_makes_a_score_set_that_says_how(judged, method) -> None:
    published = scores_publish(campaign=judged, method=method)

    scores = PairScore.objects.filter(score_set=published).order_by("pair")
    assert (published.name, published.method) == (f"human: Relatedness, {method}", method)
    assert len(scores) == 40
    assert scores[0].value > 0.7
    assert scores[39].value < 0.3
    assert {score.standard_error is None for score in scores} == {method == "bradley-terry"}
    distinguishable = published.parameters["distinguishable"]
    assert distinguishable is None if method == "bradley-terry" else 0.3 < distinguishable < 1
    assert published.parameters["standard_errors"] == {"counting": "counted", "maxdiff": "variational"}.get(
        method, "none"
    )


def test_a_score_set_takes_the_name_it_is_given_once(judged) -> None:
    assert scores_publish(campaign=judged, method="maxdiff", name=" First round ").name == "First round"

    with pytest.raises(UserError, match="First round"):
        scores_publish(campaign=judged, method="maxdiff", name="First round")


def test_a_method_that_nobody_knows_is_refused(judged) -> None:
    with pytest.raises(UserError, match=r"no method “elo”\. Choose one of counting"):
        scores_publish(campaign=judged, method="elo")


@pytest.fixture
def mixed(db):
    """Imported pairs and generated ones in one campaign; the imported ones are the better half."""
    dataset = DatasetFactory()
    given = PairFactory.create_batch(20, dataset=dataset)
    given += PairFactory.create_batch(20, dataset=dataset, origin="generated")
    return crowd_judge(dataset, given=given)


def test_strata_are_scored_from_the_judgements_that_compared_them_alone(mixed) -> None:
    imported, generated = strata_publish(campaign=mixed, method="counting")

    assert imported.name == "human: Relatedness, counting, imported"
    origins = {
        found: set(PairScore.objects.filter(score_set=found).values_list("pair__origin", flat=True))
        for found in (imported, generated)
    }
    assert origins == {imported: {"imported"}, generated: {"generated"}}
    facts = imported.parameters
    assert facts["judgements"] + facts["mixed_judgements_left_out"] == 320
    assert facts["mixed_judgements_left_out"] > facts["judgements"] > 0
    # Alone among their own kind, the generated pairs reach the top of the scale.
    together = scores_publish(campaign=mixed)
    best = {found: max(found.scores.values_list("value", flat=True)) for found in (generated, imported)}
    of_generated = together.scores.filter(pair__origin="generated").values_list("value", flat=True)
    assert best[generated] > max(of_generated)


def test_strata_need_two_kinds_of_pairs(judged) -> None:
    with pytest.raises(UserError, match="of one kind"):
        strata_publish(campaign=judged)


def test_strata_are_published_all_or_none(mixed) -> None:
    scores_publish(campaign=mixed, name="Both, generated")

    with pytest.raises(UserError, match="Both, generated"):
        strata_publish(campaign=mixed, name="Both")

    assert not ScoreSet.objects.filter(name="Both, imported").exists()


def test_the_files_of_a_bundle_are_in_its_manifest_and_whole(bundle) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text())

    assert sorted(manifest["files"]) == [
        "README.md",
        "annotators.csv",
        "check_figures.py",
        "design.json",
        "exclusions.csv",
        "flags.csv",
        "gold.csv",
        "guidelines/version-1.txt",
        "guidelines/version-2.txt",
        "items.csv",
        "judgements.csv",
        "judgements.parquet",
        "phases.csv",
        "reliability.json",
        "repeats.csv",
        "scores/bradley-terry.csv",
        "scores/counting.csv",
        "scores/maxdiff.csv",
        "scores/scores.json",
        "tuples.tsv",
    ]
    assert manifest_faults(bundle) == []
    with (bundle / "items.csv").open("a") as file:
        file.write("more\n")
    assert manifest_faults(bundle) == ["items.csv was changed."]


def test_the_order_in_which_a_database_keeps_keys_changes_no_byte_of_a_bundle(
    judged, bundle, tmp_path
) -> None:
    judged.certificate = dict(reversed(judged.certificate.items()))
    judged.save(update_fields=["certificate"])

    again = bundle_write(campaign=judged, path=tmp_path / "again").path

    assert (again / "design.json").read_bytes() == (bundle / "design.json").read_bytes()


def download(campaign, curator, **asked: str) -> bytes:
    return b"".join(client_of(curator).get(address("judgements_file", campaign), asked).streaming_content)


def test_the_download_and_the_bundle_hold_one_file_of_judgements(judged, bundle, curator) -> None:
    assert download(judged, curator) == (bundle / "judgements.csv").read_bytes()


def test_a_file_that_names_nobody_leaves_as_it_came(dataset, curator, tmp_path) -> None:
    path = tmp_path / "judgements.csv"
    names = list(dataset.pairs.order_by("pk").values_list("external_id", flat=True)[:4])
    rows = [[*names, names[0], names[3]], [*names, names[0], names[2]]]
    lines = [["Item1", "Item2", "Item3", "Item4", "BestItem", "WorstItem"], *rows]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    file = read_judgements(path)
    campaign = judgements_record(dataset=dataset, name="Imported", file=file, sha256="0", at=now()).campaign
    bundle = bundle_write(campaign=campaign, path=tmp_path / "bundle").path

    assert download(campaign, curator) == path.read_bytes() == (bundle / "judgements.csv").read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_the_command_gives_the_scores_of_a_bundle_to_the_last_byte(bundle, tmp_path, method) -> None:
    again = tmp_path / "again.csv"

    call_command("bws", "score", str(bundle / "judgements.csv"), "--method", method, "--out", str(again))

    assert again.read_bytes() == (bundle / "scores" / f"{method}.csv").read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_the_command_gives_what_a_bundle_states_beside_its_scores(bundle, tmp_path, capsys, method) -> None:
    stated = json.loads((bundle / "scores" / "scores.json").read_text())[method]

    again = ("--method", method, "--out", str(tmp_path / "again.csv"), "--json")
    call_command("bws", "score", str(bundle / "judgements.csv"), *again)

    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert stated == {name: figures[name] for name in stated}
    assert stated["standard_errors"] == {"counting": "counted", "maxdiff": "variational"}.get(method, "none")
    assert (stated["prior_precision"] is None) == (method == "counting")


@pytest.mark.parametrize("method", METHODS)
def test_published_scores_are_those_of_the_bundle_to_the_last_digit(judged, bundle, tmp_path, method) -> None:
    again = tmp_path / "again.csv"
    call_command(
        *("bws", "score", str(bundle / "judgements.csv"), "--method", method, "--scale", "unit"),
        *("--out", str(again)),
    )

    published = scores_publish(campaign=judged, method=method).scores.select_related("pair")

    assert {row["item"]: float(row["score"]) for row in rows_of(again)} == {
        score.pair.external_id: score.value for score in published
    }


def test_the_command_gives_the_reliability_of_a_bundle(bundle, capsys) -> None:
    call_command("bws", "reliability", str(bundle / "judgements.csv"), "--curve", "--json")

    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    stated = json.loads((bundle / "reliability.json").read_text())
    of_split = {name: value for name, value in stated["judgements"].items() if name != "seed"}
    together = {
        name: stated[name]
        for name in ("marginal_reliability", "marginal_reliability_low", "components", "curve")
    }
    assert {name: found[name] for name in of_split | together} == of_split | together
    assert stated["components"]["annotator"] is not None
    assert found["people_resampled"]


def test_nothing_in_a_bundle_names_a_person_or_an_hour(judged, bundle) -> None:
    files = (path for path in sorted(bundle.rglob("*")) if path.is_file() and path.suffix != ".py")
    whole = b"".join(path.read_bytes() for path in files)
    table = str(pq.read_table(bundle / "judgements.parquet").to_pylist())

    for text in (whole.decode("utf-8", "replace").casefold(), table.casefold()):
        for name in ("anna", "ben", "cleo", "eve-smith", "2026-03-02", "09:00"):
            assert name not in text
    assert rows_of(bundle / "exclusions.csv") == [
        {"annotator": "A004", "judgements": "80", "reason": "A004 answers at random."}
    ]


def test_a_bundle_holds_what_does_not_count_apart_from_what_counts(judged, bundle) -> None:
    collected = rows_of(bundle / "judgements.csv")
    everything = pq.read_table(bundle / "judgements.parquet").to_pylist()

    numbers = [row["status"] for row in everything]
    assert (len(collected), numbers.count("collected"), numbers.count("excluded")) == (240, 240, 80)
    first = next(row for row in everything if row["status"] == "collected")
    assert [first["item1"], first["best"], first["annotator"]] == [
        collected[0]["Item1"],
        collected[0]["BestItem"],
        collected[0]["Annotator"],
    ]
    assert {row["Annotator"] for row in collected} == {"A001", "A002", "A003"}
    assert len((bundle / "tuples.tsv").read_text().splitlines()) == 80


def test_the_same_state_gives_the_same_bytes(judged, tmp_path) -> None:
    one, two = (bundle_write(campaign=judged, path=tmp_path / name) for name in ("one.zip", "two.zip"))

    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.files == two.files


def test_gold_tuples_stand_in_a_bundle_with_their_answers(judged, tmp_path) -> None:
    gold = GoldFactory(campaign=judged)

    path = bundle_write(campaign=judged, path=tmp_path / "bundle").path

    (row,) = rows_of(path / "gold.csv")
    pairs = [item.pair.external_id for item in gold.items.all()]
    assert (row["best"], row["worst"]) == (pairs[0], pairs[1])
    assert pairs[0] in {item["id"] for item in rows_of(path / "items.csv")}


def test_pairs_with_one_id_in_two_splits_have_different_names_in_a_bundle(judged, tmp_path) -> None:
    first, second = judged.dataset.pairs.order_by("pk")[:2]
    for pair, split in ((first, "train"), (second, "dev")):
        judged.dataset.pairs.filter(pk=pair.pk).update(external_id="1", source="news", split=split)

    path = bundle_write(campaign=judged, path=tmp_path / "bundle").path

    items = {row["id"]: row["sentence1"] for row in rows_of(path / "items.csv")}
    assert items["news/train/1"] == first.a.text
    assert items["news/dev/1"] == second.a.text
    assert len(items) == 40
    assert {"news/train/1", "news/dev/1"} <= {
        row["item"] for row in rows_of(path / "scores" / "counting.csv")
    }


@pytest.fixture
def spaced(judged, tmp_path):
    """The bundle of a campaign with two pairs, never in one tuple, whose ids differ in a space alone."""
    pairs = judged.dataset.pairs
    first = pairs.order_by("pk")[0]
    met = TupleItem.objects.filter(tuple__items__pair=first).values("pair")
    other = pairs.exclude(pk__in=met).order_by("pk")[0]
    pairs.filter(pk=first.pk).update(external_id="the mat")
    pairs.filter(pk=other.pk).update(external_id="them at")
    return bundle_write(campaign=judged, path=tmp_path / "bundle").path


def commands_of(bundle) -> list[list[str]]:
    """The commands of the README, with paths in the bundle."""
    lines = (bundle / "README.md").read_text().splitlines()
    words = [line.split()[1:] for line in lines if line.startswith("semblance bws")]
    return [[str(bundle / word) if word.endswith(".csv") else word for word in line] for line in words]


def test_the_readme_gives_the_scores_of_pairs_whose_ids_differ_only_in_spaces(spaced) -> None:
    again = spaced.parent / "again.csv"
    commands = [command for command in commands_of(spaced) if command[1] == "score"]

    for command in commands:
        call_command(*command)

        stated = spaced / "scores" / f"{command[command.index('--method') + 1]}.csv"
        assert again.read_bytes() == stated.read_bytes()
    assert len(commands) == len(METHODS)
    call_command(*(word for word in commands[-1] if word != "--keep-spaces"))
    assert again.read_bytes() != stated.read_bytes()


def test_the_readme_gives_the_reliability_of_pairs_whose_ids_differ_only_in_spaces(spaced, capsys) -> None:
    call_command(*next(command for command in commands_of(spaced) if command[1] == "reliability"))

    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    stated = json.loads((spaced / "reliability.json").read_text())
    assert {name: found[name] for name in ("spearman_mean", "curve", "merged_items")} == {
        "spearman_mean": stated["judgements"]["spearman_mean"],
        "curve": stated["curve"],
        "merged_items": 0,
    }


def test_a_campaigns_name_is_text_in_the_readme_of_its_bundle(judged, bundle, tmp_path) -> None:
    usual = (bundle / "README.md").read_text()
    judged.name = HOSTILE

    hostile = (bundle_write(campaign=judged, path=tmp_path / "other").path / "README.md").read_text()

    assert elements_in(html_of(hostile)) == elements_in(html_of(usual))
    assert hostile.splitlines()[1:] == usual.splitlines()[1:]
    assert "\x1b" not in hostile


def test_the_readme_leaves_out_what_its_bundle_does_not_need(bundle) -> None:
    assert "--keep-spaces" not in (bundle / "README.md").read_text()


def test_a_bundle_replaces_an_earlier_one_and_nothing_else(judged, bundle, tmp_path) -> None:
    bundle_write(campaign=judged, path=bundle)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")

    with pytest.raises(UserError, match="is not a bundle"):
        bundle_write(campaign=judged, path=mine)

    assert (mine / "thesis.tex").read_text() == "years of work"


def test_the_command_writes_a_bundle_and_names_a_campaign_that_is_not_there(judged, tmp_path, capsys) -> None:
    call_command("bws", "bundle", str(judged.pk), "--out", str(tmp_path / "whole.zip"), "--json")

    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["judgements"], len(figures["files"])) == (240, 20)
    assert zipfile.ZipFile(tmp_path / "whole.zip").testzip() is None
    with pytest.raises(CommandError, match="no campaign 999999"):
        call_command("bws", "bundle", "999999", "--out", str(tmp_path / "none.zip"))


def test_ids_that_no_file_can_tell_apart_are_told(db, tmp_path) -> None:
    dataset = DatasetFactory()
    given = PairFactory.create_batch(7, dataset=dataset)
    given.append(PairFactory(dataset=dataset, external_id=f"{given[0].external_id} "))
    campaign = crowd_judge(dataset, given=given)

    with pytest.raises(UserError, match="no file can tell them apart"):
        bundle_write(campaign=campaign, path=tmp_path / "bundle")

    assert list(tmp_path.iterdir()) == []


def test_curators_publish_by_a_method_and_under_a_name(judged, curator) -> None:
    site = client_of(curator)

    page = site.post(address("publish", judged), {"method": "maxdiff", "name": "Round one"}, follow=True)

    assert "Published as the score set “Round one”." in text_of(page)
    assert ScoreSet.objects.get().method == "maxdiff"


def test_a_name_that_is_taken_is_said_beside_the_form(judged, curator) -> None:
    site = client_of(curator)
    site.post(address("publish", judged), {"name": "Round one"})

    page = site.post(address("publish", judged), {"name": "Round one"})

    assert "has a score set “Round one”" in text_of(page)
    assert 'value="Round one"' in page.content.decode()


def test_curators_download_the_bundle_and_annotators_do_not(judged, curator, annotator) -> None:
    answer = client_of(curator).get(address("bundle", judged))

    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    assert "relatedness-bundle/manifest.json" in archive.namelist()
    assert client_of(annotator).get(address("bundle", judged)).status_code == 403


def test_maxdiff_is_published_with_a_scale_per_annotator_and_the_list_says_what_it_changed(
    judged, curator
) -> None:
    site = client_of(curator)

    site.post(address("publish", judged), {"method": "maxdiff", "annotator_scales": "on"})
    work_carry_out(work_pk=judged.works.get().pk, beats=False)  # scales are too long for a request
    page = site.get(address("scores", judged)).content.decode()

    published = ScoreSet.objects.get()
    effect = published.parameters["annotator_scales"]
    assert published.name.endswith(", maxdiff with scales")
    assert effect["lowest"] <= 1 <= effect["highest"]
    assert "log evidence" in page


def test_counting_has_no_scale_per_annotator(judged, curator) -> None:
    site = client_of(curator)

    page = site.post(address("publish", judged), {"method": "counting", "annotator_scales": "on"})

    assert "Only the MaxDiff model has a scale per annotator." in page.content.decode()
    with pytest.raises(UserError, match="Only the MaxDiff model"):
        scores_publish(campaign=judged, method="counting", annotator_scales=True)
    assert not ScoreSet.objects.exists()
