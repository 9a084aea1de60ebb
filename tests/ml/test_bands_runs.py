"""Composing by similarity, from the pool to pairs and back: what is drawn, resuming, refusals, who may."""

import csv

import numpy as np
import pytest
from django.urls import reverse

from curation.datasets.composing import composition_undo
from curation.exchange.pool import SentenceOptions, sentences_import
from curation.models import Composition, Pair
from mlworkers import tasks
from mlworkers.kinds.encoders import composing
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import artifact_path
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import MembershipFactory, PairFactory, client_of
from tests.markup import squeezed
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db
WHO, DOES, WHERE = ("dog", "cat", "bird", "child"), ("runs", "sits", "sings"), ("tree", "wall", "river")
TEXTS = [f"The old {who} {does} by the {where} now." for who in WHO for does in DOES for where in WHERE]


@pytest.fixture
def pool(dataset, tmp_path):
    path = tmp_path / "news.txt"
    path.write_text("\n".join([*TEXTS, "Too short."]))
    sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)
    return dataset


@pytest.fixture
def cosines(encoder) -> np.ndarray:
    """Of all sentences with each other, by the tiny encoder."""
    vectors = encode(encoder, TEXTS, choose_compute("cpu")).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors @ vectors.T


def middle(cosines: np.ndarray) -> float:
    return round(float(np.median(cosines[np.triu_indices(len(TEXTS), 1)])), 4)


def run_made(dataset, folder, **settings: object) -> Run:
    values = {"dataset": dataset.slug, "model": str(folder), "device": "cpu", "pairs_per_band": 6, **settings}
    return run_plan("compose_by_similarity", dataset, values)


def test_a_run_that_is_only_a_preview_says_what_the_next_one_adds(pool, encoder_folder) -> None:
    shown = run_execute(run_made(pool, encoder_folder, edges="-1,0.2,1", preview=True))
    nothing = Pair.objects.count()
    added = run_execute(run_made(pool, encoder_folder, edges="-1,0.2,1"))

    assert (shown.state, nothing) == ("succeeded", 0), shown.message
    assert "would be added" in shown.message
    assert shown.result["bands"] == added.result["bands"]
    (file,) = shown.artifacts.all()
    rows = list(csv.DictReader(artifact_path(file).read_text().splitlines()))
    texts = {(pair.a.text, pair.b.text) for pair in Pair.objects.select_related("a", "b")}
    assert rows
    assert {(row["sentence1"], row["sentence2"]) for row in rows} <= texts


def test_pairs_are_in_the_bands_of_their_cosines(pool, encoder_folder, cosines) -> None:
    edge = middle(cosines)

    run = run_execute(run_made(pool, encoder_folder, edges=f"-1,{edge},1"))

    assert run.state == "succeeded", run.message
    pairs = list(Pair.objects.select_related("a", "b"))
    found = [cosines[TEXTS.index(pair.a.text), TEXTS.index(pair.b.text)] for pair in pairs]
    assert sorted(value >= edge for value in found) == [False] * 6 + [True] * 6
    assert {(pair.origin, pair.subset, pair.source) for pair in pairs} == {("sampled", "similarity", "news")}
    assert len({pair.a_id for pair in pairs} | {pair.b_id for pair in pairs}) == 24
    assert run.result["bands"][0]["pairs"] == 6
    composition = Composition.objects.get()
    assert composition.parameters["run"] == run.pk
    assert composition.parameters["model"] == str(encoder_folder)
    composition_undo(composition=composition, by=None)
    assert not Pair.objects.exists()


def test_the_run_says_what_its_bands_lack_and_where_the_pairs_are(
    staff, pool, encoder_folder, cosines
) -> None:
    run = run_execute(run_made(pool, encoder_folder, edges=f"-1,{middle(cosines)},1", pairs_per_band=30))
    MembershipFactory(dataset=pool, user=staff, role="curator")

    page = squeezed(client_of(staff).get(reverse("mlworkers:run_detail", args=[run.pk])).content.decode())

    assert run.result["pairs"] == 18  # all 36 sentences
    assert run.result["missing"] == 42
    assert "42 fewer than asked for" in page
    assert reverse("curation:compose", args=[pool.slug]) in page


def test_a_run_goes_on_with_the_vectors_it_has(monkeypatch, pool, encoder_folder, cosines) -> None:
    monkeypatch.setattr(composing, "SENTENCES_IN_SHARD", 10)
    whole = run_execute(run_made(pool, encoder_folder, edges=f"-1,{middle(cosines)},1"))
    pairs = set(Pair.objects.values_list("a_id", "b_id"))
    composition_undo(composition=Composition.objects.get(), by=None)
    encoded: list[int] = []

    def counting(encoder, texts, compute, **more):
        if len(encoded) == 2:
            encoded.append(0)
            raise KeyboardInterrupt
        encoded.append(len(texts))
        return encode(encoder, texts, compute, **more)

    monkeypatch.setattr(composing, "encode", counting)
    run = run_made(pool, encoder_folder, edges=f"-1,{middle(cosines)},1")
    with pytest.raises(KeyboardInterrupt):
        tasks.execute(run.pk)
    Run.objects.filter(pk=run.pk).update(state="queued", attempt=0)
    run_execute(run)

    assert (whole.state, run.state) == ("succeeded", "succeeded"), run.message
    assert encoded == [10, 10, 0, 10, 6]
    assert set(Pair.objects.values_list("a_id", "b_id")) == pairs


def test_a_pool_that_changed_meanwhile_is_not_written_to(monkeypatch, pool, encoder_folder, cosines) -> None:
    def joined(job, folder, device, texts):
        sentences = list(pool.sentences.all()[:2])
        PairFactory(dataset=pool, a=sentences[0], b=sentences[1])
        return np.eye(len(texts), dtype=np.float32)

    monkeypatch.setattr(composing, "vectors_in_shards", joined)

    run = run_execute(run_made(pool, encoder_folder, edges="-1,1"))

    assert run.state == "failed"
    assert "changed" in run.message
    assert Pair.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"edges": "0,low"}, "are no edges of bins"),
        ({"edges": ""}, "Say where the bands of similarity begin and end"),
        ({"edges": "0.5,0.2"}, "must rise"),
        ({"edges": "0,2"}, "from -1 to 1"),
        ({"shortest": 9, "longest": 8}, "there are none"),
        ({"cap": 0}, "cap"),
    ],
)
def test_a_wrong_setting_is_one_sentence(pool, given: dict, says: str) -> None:
    values = {"dataset": pool.slug, "model": "packaged:all-MiniLM-L6-v2", **given}

    with pytest.raises(ValueError, match=says):
        plan_from(kind_named("compose_by_similarity"), values)


def test_an_empty_pool_and_bands_without_pairs_are_said(dataset, pool, encoder_folder) -> None:
    nothing = run_execute(run_made(pool, encoder_folder, edges="-1,-0.999"))
    short = run_execute(run_made(pool, encoder_folder, shortest=30, longest=40))

    for run in (nothing, short):
        assert run.state == "failed"
        assert "No two single sentences" in run.message
    assert not Pair.objects.exists()


@pytest.mark.parametrize(("person", "offered"), [("curator", False), ("staff", True)])
def test_the_compose_page_leads_to_the_run(request, pool, person: str, offered: bool) -> None:
    user = request.getfixturevalue("curator")
    user.is_staff = person == "staff"
    user.save()

    page = client_of(user).get(f"/datasets/{pool.slug}/compose/")

    address = f"{reverse('mlworkers:run_start', args=['compose_by_similarity'])}?dataset={pool.slug}"
    assert (address in page.content.decode()) == offered
    assert "By the similarity of an encoder" in squeezed(page.content.decode())
