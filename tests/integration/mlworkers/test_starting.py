"""Every kind of run starts from a page made from its plan, and a plan that names what is not there is refused."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from html import unescape

import pytest
from django.urls import reverse
from django.utils.timezone import now

from curation.foundation.errors import UserError
from curation.models import Dataset, ImportBatch, ScoreSet, Snapshot, TupleBlock
from mlworkers.access import allowed, kind_for, kinds_offered
from mlworkers.forms.plans import PlanForm
from mlworkers.models import Run
from mlworkers.plans.kind import GROUPS
from mlworkers.plans.kinds import KINDS, Kind, plan_errors_shown, plan_from
from mlworkers.runs.references import references_check
from mlworkers.runs.suggesting import facts_about, holds
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    SentenceFactory,
    client_of,
)

pytestmark = pytest.mark.django_db
LISTED = [kind for kind in KINDS.values() if kind.listed]
MADE_BY = {
    "encoder": "train_encoder",
    "generator": "bootstrap_generator",
    "labeller": "train_labeller",
    "paraphraser": "train_paraphraser",
}


# What a person writes where the form has nothing to offer: models that no run here makes, and names of tasks.
WRITTEN = {
    "forward": "facebook/wmt19-en-de",
    "backward": "facebook/wmt19-de-en",
    "tasks": "{dataset} | the reference set",
}


def about(**metadata: object) -> dict[str, object]:
    return {"label": "What it names", "help": "A name.", **metadata}


@dataclass(frozen=True)
class NamingPlan:
    """A plan that names one thing of each sort."""

    dataset: str = field(metadata=about(refers_to="dataset"))
    target: str = field(default="", metadata=about(refers_to="score set", kinds=("target",)))
    model: str = field(default="", metadata=about(refers_to="model", kinds=("encoder",)))
    snapshot: int = field(default=0, metadata=about(refers_to="snapshot"))
    run: int = field(default=0, metadata=about(refers_to="run", kinds=("generate_pairs",)))
    other: str = field(default="", metadata=about(refers_to="dataset"))
    other_scores: str = field(default="", metadata=about(refers_to="score set", within="other"))
    epochs: int = field(default=3, metadata=about(label="Epochs", essential=True))
    seed: int = field(default=42, metadata=about(label="Seed"))


NAMING = Kind(
    name="naming", label="Naming", description="", plan=NamingPlan, unit="names", needs="read", pipeline=""
)


@pytest.fixture
def furnished(dataset) -> Dataset:
    """A dataset with one of everything that a plan may name."""
    for kind in ScoreSet.Kind.values:
        ScoreSetFactory(dataset=dataset, name=f"the {kind} set", kind=kind)
    ScoreSetFactory(dataset=dataset, name="another model set", kind=ScoreSet.Kind.MODEL)
    for upload in ("pairs", "sentences", "corpus"):
        ImportBatch.objects.create(dataset=dataset, kind=upload, file_name="a.csv", mapping={"header": True})
    block = {
        "tuples": [[1, [1, 2], [0, 1]]],
        "question": "Which?",
        "best_label": "Most",
        "worst_label": "Least",
    }
    TupleBlock.objects.create(dataset=dataset, campaign_ref=1, name="the campaign", **block)
    Snapshot.objects.create(dataset=dataset, number=1, rows=40, sha256="0" * 64, path="snapshots/1.parquet")
    for kind in KINDS:
        RunFactory(dataset=dataset, kind=kind, state="succeeded", plan={}, message="done")
    for kind, made_by in MADE_BY.items():
        ArtifactFactory(kind=kind, run__kind=made_by, run__dataset=dataset, run__plan={})
    return dataset


def filled_in(kind: Kind, dataset: Dataset) -> dict[str, object]:
    """What the form offers, with the first choice that no other field has wherever it must be filled in."""
    form = PlanForm(kind=kind, dataset=dataset)
    fields = {}
    for bound in form:
        offered = [value for value, _words in getattr(bound.field, "choices", []) if value]
        offered += [value for value, _words in getattr(bound.field.widget, "suggestions", [])]
        initial = bound.initial
        free = [value for value in offered if value not in fields.values()] or offered
        fields[bound.name] = free[0] if bound.field.required and free else initial
        if bound.field.required and not offered and initial in (None, ""):
            fields[bound.name] = WRITTEN.get(bound.name, "").format(dataset=dataset.slug)
    return {name: value for name, value in fields.items() if value not in (None, False)}


@pytest.mark.parametrize("kind", LISTED, ids=[kind.name for kind in LISTED])
def test_every_kind_has_a_form_that_explains_its_plan_and_starts_it(client, admin, furnished, kind) -> None:
    client.force_login(admin)
    address = reverse("mlworkers:run_start", args=[kind.name])
    shown = client.get(address, {"dataset": furnished.slug})

    sent = filled_in(kind, furnished)
    answer = client.post(address, sent)

    missing = [s.name for s in kind.settings if s.name != "dataset" and str(s.label) not in shown.text]
    assert (shown.status_code, missing) == (200, [])
    assert answer.status_code == 302, answer.context["form"].errors
    run = Run.objects.get(state="queued")
    assert answer.headers["Location"] == f"/runs/{run.pk}/"
    named = {s.name: sent[s.name] for s in kind.settings if s.required or s.preselected}
    assert run.plan == asdict(plan_from(kind, named))


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", LISTED, ids=[kind.name for kind in LISTED])
def test_every_kind_can_be_started_again_with_changes(client, admin, furnished, kind) -> None:
    client.force_login(admin)
    address = reverse("mlworkers:run_start", args=[kind.name])
    client.post(address, filled_in(kind, furnished))
    run = Run.objects.get(state="queued")

    form = client.get(address, {"dataset": furnished.slug, "again": run.pk}).context["form"]

    kept = {name: form[name].initial for name in run.plan}
    assert kept == run.plan


def kinds_in(answer) -> set[str]:
    return {kind.name for _label, kinds in answer.context["groups"] for kind in kinds}


def test_each_group_of_kinds_has_one_and_each_kind_a_group_that_is_there() -> None:
    assert {kind.group for kind in LISTED} - {""} == set(GROUPS)


def test_the_facts_for_which_kinds_are_suggested_are_known(dataset) -> None:
    facts = facts_about(dataset)

    for kind in LISTED:
        for fact in kind.fits:
            assert holds(fact, facts) in {True, False}


def test_what_fits_the_dataset_is_suggested_first(staff, dataset) -> None:
    address = reverse("mlworkers:run_kinds")

    def suggested() -> list[str]:
        answer = client_of(staff).get(address, {"dataset": dataset.slug})
        return [kind.name for kind in answer.context["suggested"]]

    empty = suggested()
    pair = PairFactory(dataset=dataset)
    with_pairs = suggested()
    ScoreSetFactory(dataset=dataset, kind="reference")
    scored = suggested()
    pair.origin = "generated"
    pair.save()
    generated = suggested()

    assert empty == with_pairs == []
    assert scored == ["bootstrap_generator", "train_encoder", "cross_validate_encoder"]
    assert generated == ["bootstrap_generator", "score_realism", "train_encoder"]


def test_the_list_of_kinds_of_a_dataset_leads_to_forms_for_it(staff, dataset, stranger) -> None:
    address = reverse("mlworkers:run_kinds")

    answer = client_of(staff).get(address, {"dataset": dataset.slug})

    assert f"{reverse('mlworkers:run_start', args=['train_encoder'])}?dataset={dataset.slug}" in answer.text
    assert client_of(staff).get(address, {"dataset": "not-there"}).status_code == 404


def test_the_list_of_kinds_describes_each_that_the_person_may_start(staff, dataset) -> None:
    MembershipFactory(dataset=dataset, user=staff, role="curator")

    answer = client_of(staff).get(reverse("mlworkers:run_kinds"))

    for kind in LISTED:
        if kind.group:  # the others are started on pages of their own
            assert str(kind.description).replace("'", "&#x27;") in answer.text
    assert "relate_sentences" not in answer.text


def test_without_a_dataset_only_what_needs_none_is_offered(client, staff) -> None:
    client.force_login(staff)

    kinds = client.get(reverse("mlworkers:run_kinds"))
    runs = client.get(reverse("mlworkers:run_list"))
    DatasetFactory()  # staff read every dataset, and change none
    reading = kinds_in(client.get(reverse("mlworkers:run_kinds")))

    assert not kinds_in(kinds)
    assert reverse("curation:dataset_create") in kinds.text
    assert "Start an export" not in runs.text
    assert "score_realism" in reading
    assert "select_paraphrases" not in reading  # it adds to a dataset


@pytest.mark.parametrize(
    ("kind", "offered"),
    [("train_encoder", True), ("score_pairs", False), ("write_paraphrases", False)],
    ids=["reads", "adds scores", "adds pairs"],
)
def test_an_archived_dataset_is_offered_to_runs_that_change_nothing_in_it(admin, kind, offered) -> None:
    DatasetFactory(name="Finished and put away", archived=True)
    DatasetFactory(name="Still growing")

    page = client_of(admin).get(reverse("mlworkers:run_start", args=[kind])).text

    assert "Still growing" in page
    assert ("Finished and put away" in page) == offered


def test_whoever_is_no_staff_is_offered_what_they_may_start_and_nothing_else(curator, staff) -> None:
    theirs, of_staff = ({kind.name for kind in kinds_offered(person)} for person in (curator, staff))

    may_start = {kind.name for kind in LISTED if allowed(partial(kind_for, curator, kind.name))}

    assert theirs == may_start
    assert of_staff == {kind.name for kind in LISTED}
    assert "export_dataset" in theirs
    assert "train_encoder" not in theirs


@pytest.mark.parametrize(("person", "told"), [("curator", True), ("staff", False)])
def test_who_may_not_start_every_kind_is_told_who_does(client, request, person, told) -> None:
    client.force_login(request.getfixturevalue(person))

    assert ("Only staff can start" in client.get(reverse("mlworkers:run_kinds")).text) == told


def test_a_kind_that_is_not_listed_has_no_form(admin) -> None:
    assert client_of(admin).get(reverse("mlworkers:run_start", args=["relate_sentences"])).status_code == 404


# What the form offers


def test_what_one_decides_each_time_comes_first(dataset) -> None:
    form = PlanForm(kind=NAMING, dataset=dataset)

    first, more = [field.name for field in form.first], [field.name for field in form.more]
    assert first == ["target", "model", "snapshot", "run", "other", "other_scores", "epochs"]
    assert more == ["seed"]


def test_more_settings_open_where_one_was_changed_before(dataset) -> None:
    unchanged = PlanForm(kind=NAMING, dataset=dataset, initial={"seed": 42})
    changed = PlanForm(kind=NAMING, dataset=dataset, initial={"seed": 7})

    assert (unchanged.more_is_open, changed.more_is_open) == (False, True)


def test_only_what_will_do_is_offered(furnished) -> None:
    ArtifactFactory(kind="encoder", run__kind="compare_weightings", path="a", run=(run := RunFactory()))
    ArtifactFactory(kind="encoder", run__kind="compare_weightings", path="b", run=run)
    form = PlanForm(kind=NAMING, dataset=furnished, datasets=Dataset.objects.all())
    encoder = Run.objects.get(artifacts__kind="encoder", kind="train_encoder")
    generation = Run.objects.get(kind="generate_pairs")

    offered = {
        name: [value for value, _words in form.fields[name].choices] for name in ("target", "snapshot", "run")
    }
    models = [value for value, _words in form.fields["model"].widget.suggestions]
    assert offered == {
        "target": ["", "the target set"],
        "snapshot": ["0", "1"],
        "run": ["0", str(generation.pk)],
    }
    several = [f"run:{run.pk}/b", f"run:{run.pk}/a"]
    assert models == ["", "packaged:all-MiniLM-L6-v2", *several, f"run:{encoder.pk}"]


def test_a_score_set_that_is_gone_must_be_chosen_anew(furnished) -> None:
    kept = PlanForm(kind=NAMING, dataset=furnished, initial={"target": "the target set"})
    gone = PlanForm(kind=NAMING, dataset=furnished, initial={"target": "an old one"})

    assert [value for value, _words in kept.fields["target"].choices] == ["", "the target set"]
    assert gone.fields["target"].choices[0] == ("an old one", "“an old one” no longer exists: choose another")


def test_score_sets_of_other_datasets_are_offered_where_another_dataset_may_be_named(furnished) -> None:
    elsewhere = DatasetFactory(name="Elsewhere")
    ScoreSetFactory(dataset=elsewhere, name="theirs")
    ScoreSetFactory(name="secret")

    form = PlanForm(kind=NAMING, dataset=furnished, datasets=[furnished, elsewhere])

    offered = dict(form.fields["other_scores"].choices)
    assert offered["theirs"] == "theirs · reference · Elsewhere"
    assert "the human set" in offered
    assert "secret" not in offered


def test_a_model_that_is_not_suggested_can_be_typed(client, dataset) -> None:
    form = PlanForm({"dataset": dataset.slug, "model": "roberta-base"}, kind=NAMING, dataset=dataset)

    assert form.is_valid(), form.errors
    assert form.plan()["model"] == "roberta-base"


# What is refused, before anything is queued

REFUSALS: list[tuple[dict[str, object], str]] = [
    ({"target": "nowhere"}, "The dataset “scenes” has no score set “nowhere”; choose one that it has."),
    (
        {"target": "the reference set"},
        "The score set “the reference set” is of the kind reference; “What it names” takes target.",
    ),
    ({"model": "no model!"}, "'no model!' is neither a folder nor a model's name;"),
    ({"model": "run:999999"}, "Run 999999 made no encoder, or there is no such run;"),
    (
        {"snapshot": 7},
        "The dataset “scenes” has no snapshot 7; choose one that it has, or 0 for a new one.",
    ),
    ({"run": 999999}, "The dataset “scenes” has no run 999999; choose one of its runs."),
    ({"other": "nowhere"}, "There is no dataset called “nowhere”; check its short name."),
    ({"other_scores": "nowhere"}, "The dataset “scenes” has no score set “nowhere”"),
]


@pytest.fixture
def check(furnished) -> Callable[..., None]:
    Dataset.objects.filter(pk=furnished.pk).update(slug="scenes")
    furnished.refresh_from_db()

    def check(**values: object) -> None:
        plan = asdict(plan_from(NAMING, {"dataset": "scenes", **values}))
        with plan_errors_shown(NAMING):
            references_check(NAMING, plan, furnished)

    return check


@pytest.mark.parametrize(("values", "sentence"), REFUSALS)
def test_a_name_that_leads_nowhere_is_refused_in_one_sentence(check, values, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        check(**values)

    assert str(refused.value).startswith(sentence)


def test_names_that_lead_somewhere_pass(check) -> None:
    generation = Run.objects.get(kind="generate_pairs")
    encoder = Run.objects.get(artifacts__kind="encoder")

    check(target="the target set", model=f"run:{encoder.pk}", snapshot=1, run=generation.pk)


def test_a_run_of_another_kind_is_refused(check) -> None:
    export = Run.objects.get(kind="export_dataset")

    with pytest.raises(UserError, match=r"of the kind export_dataset; give one of generate_pairs\."):
        check(run=export.pk)


def test_a_run_that_has_not_succeeded_is_refused(check) -> None:
    Run.objects.filter(kind="generate_pairs").update(state="failed")

    with pytest.raises(UserError, match=r"is failed; give one that succeeded\."):
        check(run=Run.objects.get(kind="generate_pairs").pk)


def test_a_run_of_another_dataset_is_none_of_its_business(check) -> None:
    with pytest.raises(UserError, match="has no run"):
        check(run=RunFactory(kind="generate_pairs", state="succeeded").pk)


def test_a_run_that_made_several_encoders_says_how_to_name_one(check) -> None:
    run = RunFactory(kind="compare_weightings", state="succeeded")
    ArtifactFactory(run=run, path=f"runs/{run.pk}/1/plain-42")
    ArtifactFactory(run=run, path=f"runs/{run.pk}/1/realism-42")

    check(model=f"run:{run.pk}/realism-42")
    with pytest.raises(UserError, match=rf"made 2 models; name one of them, such as run:{run.pk}/plain-42;"):
        check(model=f"run:{run.pk}")
    with pytest.raises(UserError, match=rf"Run {run.pk} made no encoder called “random-42”"):
        check(model=f"run:{run.pk}/random-42")


def test_a_score_set_may_stand_in_the_dataset_that_another_setting_names(check) -> None:
    elsewhere = DatasetFactory(slug="elsewhere")
    ScoreSetFactory(dataset=elsewhere, name="theirs")

    check(other="elsewhere", other_scores="theirs")
    with pytest.raises(UserError, match="“elsewhere” has no score set “the reference set”"):
        check(other="elsewhere", other_scores="the reference set")


# From the administration


@pytest.mark.parametrize("method", ["get", "post"])
def test_adding_a_run_in_the_administration_leads_to_the_same_forms(client, admin, method) -> None:
    client.force_login(admin)

    answer = getattr(client, method)(
        "/admin/mlworkers/run/add/", {"kind": "export_dataset", "state": "running"}
    )

    assert answer.headers["Location"] == reverse("mlworkers:run_kinds")
    assert not Run.objects.exists()


def test_the_administration_offers_staff_to_start_a_run(staff) -> None:
    assert "/admin/mlworkers/run/add/" in client_of(staff).get("/admin/").text


@pytest.mark.parametrize("model", ["runshard", "evaluation", "artifact"])
def test_what_runs_left_is_changed_by_nobody(admin, model) -> None:
    assert client_of(admin).get(f"/admin/mlworkers/{model}/add/").status_code in {403, 404}


def test_where_nothing_will_do_the_form_says_what_is_missing(dataset) -> None:
    form = PlanForm(kind=KINDS["score_realism"], dataset=dataset)

    kinds = "“Generate pairs”, “Translate there and back” or “Write paraphrases”"
    assert form.fields["run"].choices == [("", f"no run of the kind {kinds} has succeeded yet")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if kind.staff_only and kind.listed])
def test_staff_start_what_needs_a_model_for_every_dataset_and_curators_do_not(
    client, dataset, staff, curator, kind
) -> None:
    address = f"{reverse('mlworkers:run_start', args=[kind])}?dataset={dataset.slug}"

    found = []
    for user in (staff, curator):
        client.force_login(user)
        found.append(client.get(address).status_code)

    assert found == [200, 403]


def test_an_estimate_comes_before_the_start_and_starts_nothing(admin, dataset) -> None:
    a, b = (SentenceFactory(dataset=dataset, text=text) for text in ("A dog runs.", "A cat sleeps."))
    PairFactory(dataset=dataset, a=a, b=b, split="train")
    kind = KINDS["generate_pairs"]
    before = Run.objects.count()
    sent = {**filled_in(kind, dataset), "model": "openai:tiny", "price_in": 2, "estimate": 1}

    page = client_of(admin).post(reverse("mlworkers:run_start", args=[kind.name]), sent)

    assert "30 requests, about " in page.text
    assert "at most 1,920 to be written, which costs up to about 0.01 at" in page.text
    assert 'value="openai:tiny"' in page.text
    assert Run.objects.count() == before


def test_only_a_kind_that_can_estimate_offers_it(client, admin, dataset) -> None:
    client.force_login(admin)

    pages = {
        name: client.get(reverse("mlworkers:run_start", args=[name]), {"dataset": dataset.slug}).text
        for name in ("generate_pairs", "score_realism", "analyse_language")
    }

    assert [name for name, page in pages.items() if "Estimate first" in page] == [
        "generate_pairs",
        "score_realism",
    ]


def test_a_preview_is_started_from_the_form_and_leads_back_to_it_with_its_settings(
    client, admin, dataset
) -> None:
    client.force_login(admin)
    kind = KINDS["generate_pairs"]
    sent = {**filled_in(kind, dataset), "model": "openai:tiny", "samples": 3, "preview": 1}

    client.post(reverse("mlworkers:run_start", args=[kind.name]), sent)

    run = Run.objects.get(kind="preview_generation")
    assert run.plan["samples"] == 3
    rows = [
        {"source": "A dog <runs>.", "label": "1", "text": "A dog moves.", "dropped": ""},
        {"source": "A dog <runs>.", "label": "0", "text": "", "dropped": "empty"},
    ]
    result = {"rows": rows, "rows_of_the_run": 9000, "most_seconds": 750.0, "bytes": 2_000_000, "usable": 1}
    Run.objects.filter(pk=run.pk).update(state="succeeded", result=result, finished_at=now())
    page = client.get(reverse("mlworkers:run_detail", args=[run.pk])).text
    assert "a run writes 9,000 rows" in page
    assert "12 min 30 s" in page
    assert "A dog &lt;runs&gt;." in page
    (address,) = re.findall(r'href="([^"]*generate_pairs/[^"]*)"', page)
    form = client.get(unescape(address)).text
    assert re.search(r'name="samples" value="3"', form)
