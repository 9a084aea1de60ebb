"""The methods section: its figures are those of the database, and what is not there is not told."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command

from annotation.judging.settling import participation_stop
from annotation.models import Judgement, Tuple, TupleItem
from annotation.reasons import gold_reason
from annotation.results.publishing import scores_publish
from curation.datasets.choosing import Choice, choice_apply
from curation.datasets.edits import edit_undo
from curation.datasets.services import score_set_withdraw
from curation.exchange.exporting import snapshot_create
from curation.exchange.importing import ImportOptions, pairs_import
from curation.files.publishing.texts import methods_files
from curation.models import ComposedPair, Composition, ImportBatch, Pair, ReviewDecision, Snapshot
from curation.pairs.sampling.drawing import Settings, Strategy
from curation.pairs.sampling.searching import Window
from semblance.publishing.collecting import publication_of
from semblance.publishing.folder import dataset_publish
from tests.conftest import rolled_back
from tests.factories import (
    DatasetFactory,
    GeneratedPairFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    UserFactory,
    client_of,
)
from tests.integration.annotation.crowd import crowd_judge

pytestmark = pytest.mark.django_db
NASTY = "R&D 100% of $5 #1_{x} ~^\\ שלום"


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker):
    with rolled_back(django_db_blocker):
        dataset = DatasetFactory(slug="rel", name="Relatedness", licence="CC BY 4.0")
        given = [PairFactory(dataset=dataset, source=("news", NASTY)[n % 2]) for n in range(40)]
        campaign = crowd_judge(dataset, given=given)
        yield scores_publish(campaign=campaign), campaign


@pytest.fixture
def campaign(judged_once, db):
    return type(judged_once[1]).objects.get(pk=judged_once[1].pk)


@pytest.fixture
def dataset(campaign):
    return campaign.dataset


def section(dataset, name: str = "METHODS.md") -> str:
    return methods_files(publication_of(snapshot_create(dataset=dataset)).publication)[name]


def table(markdown: str, caption: str) -> list[list[str]]:
    """The rows below the header of the table whose caption begins so."""
    before = markdown[: markdown.index(f"*{caption}")]
    lines = before.rstrip().splitlines()
    rows = []
    while lines and lines[-1].startswith("|"):
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", lines.pop())[1:-1]])
    return rows[::-1][2:]


def test_the_figures_of_the_annotation_are_those_of_an_independent_count(
    dataset, campaign, judged_once
) -> None:
    (row,) = table(section(dataset), "Annotation.")

    items = TupleItem.objects.filter(tuple__campaign=campaign)
    judgements = Judgement.objects.filter(participation__campaign=campaign, status="collected")
    per_tuple = set(Counter(judgements.values_list("tuple", flat=True)).values())
    per_item = set(Counter(items.values_list("pair", flat=True)).values())
    assert row == [
        "Relatedness",
        str(items.values("pair").distinct().count()),
        "4",
        str(Tuple.objects.filter(campaign=campaign).count()),
        str(per_item.pop()),
        str(per_tuple.pop()),
        str(judgements.count()),
        str(judgements.values("participation").distinct().count()),
    ]
    assert not per_item
    assert not per_tuple


def test_each_score_set_has_the_judgements_it_was_computed_from_and_what_changed_since(
    dataset, campaign, judged_once
) -> None:
    published, _campaign = judged_once
    before = published.parameters["judgements"]
    person = campaign.participations.order_by("pk").first()
    late = campaign.participations.order_by("pk").last().judgements.filter(status="collected").first()
    Judgement.objects.filter(pk=late.pk).update(submitted_at=published.created_at + timedelta(hours=1))
    participation_stop(participation=person, reason="careless", exclude=True)
    counting = Judgement.objects.filter(participation__campaign=campaign, status="collected").count()

    markdown = section(dataset)

    (row,) = table(markdown, "Scores:")
    day = published.created_at.date().isoformat()
    assert row == [
        published.name, "counting", str(before), str(published.parameters["annotators"]), day, "1"
    ]  # fmt: skip
    # The judgement that came later was among those that counted before.
    assert f"{before + 1 - counting} judgements behind “{published.name}” do not count any more" in markdown
    assert counting < before
    assert table(markdown, "Annotation.")[0][6] == str(counting)


def test_split_half_reliability_has_its_trials_interval_and_spearman_brown(dataset, judged_once) -> None:
    markdown = section(dataset)
    found = judged_once[0].parameters["reliability"]

    (row,) = table(markdown, "Split-half reliability:")
    assert row[2] == "1,000"
    assert row[3].startswith(f"{found['spearman_mean']:.3f}")
    assert row[4:] == [f"{found['spearman_brown']:.3f}", f"{found['pearson_mean']:.3f}"]
    claim = found["turning"]
    judgements = claim["judgements"]
    assert 0 < judgements["number"] < judgements["of"] == found["judgements"]
    enough = "" if judgements["least"] else " (fewer may be enough)"
    assert (
        f"below {claim['least']:g} without {judgements['number']} of the {judgements['of']} judgements{enough}"
        in " ".join(markdown.split())
    )
    assert "annotations per tuple" not in markdown.lower()


def test_maxdiff_scores_have_their_marginal_reliability_and_counting_scores_have_none(
    dataset, campaign, tmp_path
) -> None:
    found = scores_publish(campaign=campaign, method="maxdiff", name="by maxdiff").parameters

    markdown = section(dataset)
    dataset_publish(snapshot=snapshot_create(dataset=dataset), path=tmp_path / "folder")

    stated = (
        f"“by maxdiff”: marginal reliability of the MaxDiff scores {found['marginal_reliability']:.3f}, 95 % interval "
        f"{found['marginal_reliability_low']:.3f} to {found['marginal_reliability_high']:.3f}, if judgements are"
    )
    assert stated in markdown
    assert stated in (tmp_path / "folder" / "README.md").read_text()
    assert markdown.count("marginal reliability of") == 1


def test_withdrawn_scores_come_last_in_a_snapshot_that_holds_them_and_are_named(dataset, campaign) -> None:
    newer = scores_publish(campaign=campaign, name="newer")
    snapshot = snapshot_create(dataset=dataset)
    before = publication_of(snapshot).publication.main.name
    score_set_withdraw(score_set=newer, why="Wrong question.", at=datetime(2026, 3, 1, tzinfo=UTC))

    after = publication_of(snapshot).publication

    assert (before, after.main.name == "newer") == ("newer", False)
    assert (
        "The scores “newer” were withdrawn on 2026-03-01: Wrong question."
        in methods_files(after)["METHODS.md"]
    )


def test_each_table_names_which_annotators_it_counts(dataset, campaign) -> None:
    everybody = campaign.participations.count()
    participation_stop(
        participation=campaign.participations.order_by("pk").first(), reason="careless", exclude=True
    )
    scores_publish(campaign=campaign, name="without one")

    markdown = section(dataset)

    assert "| Annotators in all |" in markdown
    assert "Annotators in all: everybody who gave a judgement, also if it was excluded." in markdown
    assert table(markdown, "Annotation.")[0][7] == str(everybody)
    assert "| Annotators of these |" in markdown
    rows = {row[0]: row[3] for row in table(markdown, "Scores:")}
    assert rows["without one"] == str(everybody - 1)


def test_pairs_are_counted_by_source_origin_and_strategy(dataset) -> None:
    composition = Composition.objects.create(
        dataset=dataset, parameters={"strategy": "overlap", "count": 3, "seed": 5}, pairs=3
    )
    for _number in range(3):
        pair = PairFactory(dataset=dataset, source="pool", origin="sampled", subset="overlap")
        ComposedPair.objects.create(composition=composition, pair=pair)

    markdown = section(dataset)

    rows = table(markdown, "Pairs of the dataset")
    assert ["pool", "sampled", "overlap", "3"] in rows
    assert ["news", "imported", "–", "20"] in rows
    assert sum(int(row[3]) for row in rows) == Pair.objects.filter(dataset=dataset, status="active").count()
    assert "3 pairs with the strategy overlap (pairs asked for 3, seed 5)." in markdown
    assert "(Abdalla et al., 2023)" in markdown


def test_settings_are_those_that_the_strategy_uses(dataset) -> None:
    window = {"low": 0.25, "high": 0.75, "denominator": "first", "length_difference": 0.25}
    every = {"count": 1, "seed": 5, "window": window, "buckets": 50, "growth": 1.5, "idf": True, "synonyms": "",
             "labels": {"shared": "target", "crossed": "stance"}, "combinations": [["for", "against"]]}  # fmt: skip
    for strategy in ("overlap", "percentiles", "labels"):
        made = Composition.objects.create(dataset=dataset, parameters=every | {"strategy": strategy}, pairs=1)
        ComposedPair.objects.create(composition=made, pair=PairFactory(dataset=dataset, origin="sampled"))
    ImportBatch.objects.create(
        dataset=dataset, kind="sentences", state="done", file_name="news.txt", sha256="ab" * 32, added=9
    )

    markdown = section(dataset).replace("\\", "")

    assert (
        "from single sentences of the files news.txt (SHA-256 abababababab) by published strategies"
        in markdown
    )
    common = "pairs asked for 1, seed 5"
    words = "from 0.25 to below 0.75 of the distinct words of the first sentence, lengths differing by at most 0.25"
    assert f"the strategy overlap ({common}, words in common {words})." in markdown
    assert f"the strategy percentiles ({common}, buckets 50, growth 1.5, IDF weights yes)." in markdown
    assert f"the strategy labels ({common}, labels target and stance, combinations for-against)." in markdown


def test_a_choice_among_pairs_is_told_until_it_is_undone(dataset, curator) -> None:
    choice = Choice(Settings(Strategy.OVERLAP, 1, shortest=0, window=Window(0, 1, 1)), source="news")
    edit = choice_apply(dataset=dataset, choice=choice, state=None, by=curator)

    chosen = section(dataset).replace("\\", "")
    edit_undo(entry=edit, by=curator)
    undone = section(dataset)

    told = "All but the pairs that the strategy overlap chose (pairs asked for 1, seed 1234, "
    assert told in chosen
    assert "among the source news" in chosen
    assert f"were set aside: {edit.pairs} pairs." in chosen
    assert told not in undone


def test_imported_files_are_listed_with_what_they_added(dataset, tmp_path) -> None:
    (tmp_path / "more.csv").write_text("sentence1,sentence2,score\nA b.,C d.,1\nE f.,G h.,2\n")
    pairs_import(dataset=dataset, path=tmp_path / "more.csv", options=ImportOptions(scale=(0, 5)))

    (row,) = table(section(dataset), "Imported files")

    assert (row[0], row[3:]) == ("more.csv", ["2", "2", "2"])


def test_generation_and_review_are_told_with_models_instructions_and_verdicts(dataset) -> None:
    plan = {
        "model": "gpt2-xl",
        "task": "sentences",
        "labels": "0,1",
        "top_k": 5,
        "top_p": 0.9,
        "decay": 100.0,
    }
    result = {"sources": 7, "generated": 12, "kept": 9, "dropped": {"repeated": 2}, "self_debiased": True}
    run = RunFactory(kind="generate_pairs", dataset=dataset, state="succeeded", plan=plan, result=result)
    pairs = [GeneratedPairFactory(dataset=dataset, run_ref=run.pk) for _number in range(3)]
    for pair, verdict in zip(pairs, ("keep", "reject"), strict=False):
        ReviewDecision.objects.create(
            sentence=pair.b,
            pair=pair,
            reviewer=UserFactory(simulated=verdict == "keep"),
            verdict=verdict,
            reasons=["grammar"] if verdict == "reject" else [],
            frame="random",
            decided_at=datetime(2026, 1, 1, tzinfo=UTC),
            client_id=uuid4(),
        )
    Pair.objects.filter(pk=pairs[1].pk).update(status="rejected")
    ScoreSetFactory(
        dataset=dataset,
        name="p_D",
        kind="realism",
        parameters={"auc": 0.91, "auc_low": 0.9, "auc_high": 0.92},
    )

    markdown = section(dataset)

    assert table(markdown, "Generated sentences.") == [[str(run.pk), "7", "12", "9", "2", "1"]]
    assert "used the model gpt2-xl" in markdown
    assert [row[0] for row in table(markdown, f"Instructions of run {run.pk}")] == ["1", "0"]
    assert "top k 5, top p 0.9, λ 100" in markdown
    assert "2 curators, of whom 1 were simulated by a program, judged 2 generated sentences" in markdown
    assert "1 were kept, 0 edited and 1 rejected. Reasons of the rejections: grammar 1." in markdown
    assert table(markdown, "Classifiers behind")[0][-1] == "0.910 (0.900 to 0.920)"
    assert "Schick and Schütze, 2021" in markdown
    assert "Kim et al., 2022" in markdown


def test_the_review_is_told_as_it_was_when_the_snapshot_was_made(dataset) -> None:
    run = RunFactory(kind="generate_pairs", dataset=dataset, state="succeeded", plan={}, result={})
    before, after = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)

    def decided(verdict: str, at: datetime, **more: object) -> ReviewDecision:
        pair = more.pop("pair", None) or GeneratedPairFactory(dataset=dataset, run_ref=run.pk)
        facts = {"sentence": pair.b, "pair": pair, "reviewer": UserFactory(), "frame": "random"} | more
        return ReviewDecision.objects.create(verdict=verdict, decided_at=at, client_id=uuid4(), **facts)

    decided("keep", before)
    decided("reject", before, undone_at=after)
    replaced = decided("reject", before, binding=False)
    decided("edit", after, pair=replaced.pair, settles=replaced)
    settled_then = decided("reject", before, binding=False)
    decided("keep", before, pair=settled_then.pair, settles=settled_then)
    decided("reject", after)
    snapshot = snapshot_create(dataset=dataset)
    Snapshot.objects.filter(pk=snapshot.pk).update(created_at=datetime(2026, 2, 1, tzinfo=UTC))
    snapshot.refresh_from_db()

    markdown = methods_files(publication_of(snapshot).publication)["METHODS.md"]

    assert "2 were kept, 0 edited and 2 rejected." in markdown
    assert "2 pairs of the dataset are rejected" in markdown
    assert table(markdown, "Generated sentences.")[0][-1] == "2"


def test_an_evaluation_is_told_with_intervals_and_leaks(dataset) -> None:
    result = {
        "snapshot": 1, "spearman": 0.8, "spearman_low": 0.7, "spearman_high": 0.9, "pearson": 0.81, "pairs": 30,
        "left_out": 10, "warnings": [],
    }  # fmt: skip
    plan = {"model": "packaged:all-MiniLM-L6-v2", "score_set": "gold"}
    run = RunFactory(kind="evaluate_encoder", dataset=dataset, state="succeeded", plan=plan, result=result)
    RunFactory(kind="evaluate_encoder", dataset=dataset, state="succeeded", result={**result, "snapshot": 9})

    markdown = section(dataset)

    assert table(markdown, f"Run {run.pk}:") == [
        ["pairs of the test", "30", "0.800 (0.700 to 0.900)", "0.810"]
    ]
    assert "10 pairs were not tested on because the encoder had seen one of their sentences." in markdown
    assert markdown.count("an evaluation") == 1


def test_a_cross_validation_is_told_on_all_pairs_and_on_unseen_ones(dataset) -> None:
    def figures(value: float) -> dict:
        one = {"pairs": 60, "value": value, "low": value - 0.05, "high": value + 0.05, "sd": 0.01}
        return {"mean": one, "pooled": one, "by_fold": {"1": one}, "by_source": {}}

    protocol = {
        "protocol": "components", "folds": [{"fold": "1", "pairs": 60, "leakage": 0.0}], "leakage": 0.0,
        "unseen_pairs": 48, "methods": [{"method": "fine-tuned", **figures(0.75), "unseen": figures(0.625)}],
    }  # fmt: skip
    result = {
        "snapshot": 1, "pairs": 60, "protocols": [protocol], "sources": [], "trainings": [], "seeds": [4, 5],
        "seen_before": 12,
    }  # fmt: skip
    run = RunFactory(kind="cross_validate_encoder", dataset=dataset, state="succeeded", result=result)

    markdown = section(dataset)

    assert table(markdown, f"Run {run.pk}:") == [
        ["model, fine-tuned", "0.750 (0.700 to 0.800)", "0.625 (0.575 to 0.675)"]
    ]
    assert (
        "Unseen pairs, which hold no sentence that the model was trained on: component folds, unseen 48."
        in markdown
    )
    assert "12 pairs hold a sentence that the model was trained on before the cross-validation." in markdown
    assert "Figures of what was trained are means over 2 seeds" in markdown


def test_parts_without_data_are_left_out() -> None:
    dataset = DatasetFactory()
    gold = ScoreSetFactory(dataset=dataset, name="gold")
    gold.scores.create(pair=PairFactory(dataset=dataset), value=1)

    markdown = section(dataset)

    assert re.findall(r"^## (.*)", markdown, re.MULTILINE) == ["Collection of pairs"]


def test_simulated_annotators_are_named_as_such(dataset, campaign) -> None:
    UserFactory._meta.model.objects.filter(participations__campaign=campaign).update(simulated=True)
    scores_publish(campaign=campaign, name="by programs")

    markdown = section(dataset)

    assert (
        "Simulated annotators: judgements behind the scores “by programs” were given by a program" in markdown
    )
    assert "All of its annotators are simulated by a program; no person judged." in markdown


def test_why_somebody_was_excluded_is_told_unless_it_names_a_person(dataset, campaign) -> None:
    first, second = campaign.participations.select_related("user")[:2]
    for person, reason in (
        (first, "always chose the first pair"),
        (second, f"{second.user.username} guessed"),
    ):
        type(person).objects.filter(pk=person.pk).update(excluded=True, state="stopped", reason=reason)

    markdown = section(dataset)

    assert "(always chose the first pair 1, reason not published 1)" in markdown
    assert second.user.username not in markdown


def test_the_gold_rule_is_one_reason_whatever_the_figures_of_each_person(dataset, campaign) -> None:
    for person, (trials, right) in zip(campaign.participations.all()[:2], [(8, 1), (12, 3)], strict=True):
        reason = gold_reason(trials, right, campaign.gold_threshold)
        facts = {"gold_trials": trials, "gold_right": right, "reason": reason, "stopped_by_gold": True}
        type(person).objects.filter(pk=person.pk).update(excluded=True, state="stopped", **facts)

    markdown = section(dataset)

    assert "(too few right answers to attention checks 2)" in markdown


def test_names_that_people_typed_stay_text_in_latex(dataset) -> None:
    latex = section(dataset, "methods.tex")

    assert (
        r"R\&D 100\% of \$5 \#1\_\{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} \semblancertl{שלום}"
        in latex
    )
    begun, ended = (re.findall(rf"\\{word}\{{(\w+)\}}", latex) for word in ("begin", "end"))
    assert Counter(begun) == Counter(ended)
    keys = set(re.findall(r"^@\w+\{(\w+),", section(dataset, "references.bib"), re.MULTILINE))
    cited = {key for keys in re.findall(r"\\cite[pt]\{([^}]*)\}", latex) for key in keys.split(",")}
    assert cited == keys


def test_the_folder_the_command_and_the_page_have_the_same_section(dataset, tmp_path) -> None:
    snapshot = snapshot_create(dataset=dataset)
    dataset_publish(snapshot=snapshot, path=tmp_path / "rel")
    (tmp_path / "there").mkdir()
    out = StringIO()
    call_command("methods_section", "rel", "--to", str(tmp_path / "there"), "--json", stdout=out)

    page = client_of(UserFactory(is_superuser=True)).get(f"/datasets/rel/publish/{snapshot.number}/methods/")

    for name in ("METHODS.md", "methods.tex", "references.bib"):
        assert (tmp_path / "rel" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
        assert (f"Copy {name}" in page.content.decode()) == bool(
            (tmp_path / "rel" / name).read_text().strip()
        )
    shown = {name: text for _id, name, text in page.context["files"]}
    assert shown["METHODS.md"] == (tmp_path / "rel" / "METHODS.md").read_text()
    told = json.loads(out.getvalue().splitlines()[-1])
    assert told["to_be_written"] == (tmp_path / "rel" / "METHODS.md").read_text().count("To be written:")


def test_strangers_do_not_find_the_page_and_staff_may_not_read_it(dataset) -> None:
    number = snapshot_create(dataset=dataset).number
    address = f"/datasets/rel/publish/{number}/methods/"

    assert client_of(UserFactory()).get(address).status_code == 404
    assert client_of(UserFactory(is_staff=True)).get(address).status_code == 403
