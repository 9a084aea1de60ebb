"""The page of similarities from contexts: agreement with human scores, and the contexts of one pair."""

import numpy as np
import pytest
from django.urls import reverse

from curation.files.documents import Document
from curation.models import PairScore
from mlworkers.contexts.bigram_index import index_write
from mlworkers.contexts.corpus import Corpus, corpus_write
from mlworkers.contexts.pair_terms import PairContexts
from mlworkers.contexts.scored_file import scored_write
from mlworkers.contexts.similarity import Weights, pair_similarity
from mlworkers.models import Artifact, Run
from mlworkers.registry.context_scores import contexts_compared, pair_shown, rows_to_compare, sets_of_run
from mlworkers.runs.storage import home_relative, run_folder
from tests.factories import PairFactory, RunFactory, ScoreSetFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
TEXT = [f"The {who} came home in the {where}." for who in ("dog", "cat", "fox") for where in ("rain", "snow")]
WEIGHTS = Weights(0.0, 0.5, 0.25, 0.25)


def scored_run(dataset, *, pairs: int = 12) -> Run:
    """A run that scored some pairs of two sources by three contexts each, and a corpus."""
    indexed = RunFactory(kind="index_corpus", dataset=dataset, state="succeeded")
    folder = run_folder(indexed.pk) / "corpus"
    folder.mkdir(parents=True)
    corpus_write([Document("a.txt", [TEXT], [])], folder)
    index_write(Corpus(folder), folder)
    Artifact.objects.create(run=indexed, kind="corpus", path=home_relative(folder), sha256="0" * 64)
    run = RunFactory(
        kind="score_contexts",
        dataset=dataset,
        state="succeeded",
        plan={"corpus": indexed.pk, "left": 2, "right": 2},
        result={"weights": WEIGHTS.as_dict(), "warnings": []},
    )
    sets = {
        name: ScoreSetFactory(
            dataset=dataset,
            name=f"run {run.pk}: {name}",
            kind="model",
            low=-1.0,
            high=1.0,
            run_ref=run.pk,
            parameters={"label": f"contexts-{name}"},
        )
        for name in ("centred", "raw")
    }
    rng = np.random.default_rng(1)
    found = []
    for number in range(pairs):
        pair = PairFactory(dataset=dataset, source=("news", "forums")[number % 2])
        terms = rng.normal(-3, 1, size=(3, 4, 4))
        terms[..., 0] = np.nan
        own = PairContexts([1, 2, 3, 4], [False, False, True, True], *terms)
        similar = pair_similarity(*terms, WEIGHTS, resamples=50)
        for name, score_set in sets.items():
            PairScore.objects.create(
                score_set=score_set,
                pair=pair,
                value=getattr(similar, name),
                contexts=4,
                interval_low=-1,
                interval_high=1,
            )
        found.append((pair.pk, own))
    scores = run_folder(run.pk) / "scores"
    scores.mkdir(parents=True)
    scored_write(scores, found, WEIGHTS, same=[])
    Artifact.objects.create(run=run, kind="context_scores", path=home_relative(scores), sha256="0" * 64)
    return run


def judged(dataset, run: Run):
    """Human scores that rise with the centred similarity."""
    people = ScoreSetFactory(dataset=dataset, name="people", kind="human", low=0.0, high=1.0)
    for score in PairScore.objects.filter(score_set__parameters__label="contexts-centred"):
        PairScore.objects.create(score_set=people, pair=score.pair, value=(score.value + 1) / 2)
    return people


def test_both_similarities_are_compared_overall_by_bin_and_by_source(dataset) -> None:
    run = scored_run(dataset)
    people = judged(dataset, run)
    [row, *_others] = rows_to_compare(dataset, run)

    found = contexts_compared(sets_of_run(run), row, folder=run_folder(run.pk) / "scores")

    names = [each.name for each in found.rows]
    assert row.score_set == people
    assert names[0] == "all"
    assert names[-2:] == ["forums", "news"]
    assert [found.rows[place].centred.value for place in (0, -1, -2)] == pytest.approx([1, 1, 1])
    assert [each.n for each in (found.rows[0].raw, found.rows[-1].raw)] == [12, 6]
    assert found.difference == pytest.approx(1 - found.rows[0].raw.value)
    assert found.interval.low > 0
    assert [each.dropped for each in found.ablations] == ["", "λ3", "λ4", "λ3, λ4"]
    assert found.ablations[0].centred.value == pytest.approx(1)


def test_the_contexts_of_a_pair_add_up_to_its_similarity_the_largest_part_first(dataset) -> None:
    run = scored_run(dataset)
    score = PairScore.objects.filter(score_set__parameters__label="contexts-centred").first()

    corpus = run_folder(run.plan["corpus"]) / "corpus"
    shown = pair_shown(run, score.pair, folder=run_folder(run.pk) / "scores", corpus=corpus)

    parts = [each.part for each in (*shown.most, *reversed(shown.least))]
    assert sum(parts) == pytest.approx(score.value)
    assert parts == sorted(parts, reverse=True)
    assert shown.contexts == len(parts) == 4
    assert {each.document for each in shown.most} == {"a.txt"}


def test_pages_show_the_comparison_and_the_contexts(client, owner, dataset) -> None:
    run = scored_run(dataset)
    judged(dataset, run)
    pair = dataset.pairs.first()
    client.force_login(owner)

    page = squeezed(client.get(reverse("mlworkers:context_scores", args=[run.pk])).text)
    contexts = squeezed(client.get(reverse("mlworkers:pair_contexts", args=[run.pk, pair.pk])).text)

    assert "Centred minus raw cosine" in page
    assert "λ3, λ4" in page
    assert pair.a.text in page
    assert "Contexts that agree most" in contexts
    assert "The dog came home in the rain." in contexts


def test_pages_without_human_scores_without_files_and_without_a_result_say_so(client, owner, dataset) -> None:
    run = scored_run(dataset)
    Artifact.objects.all().delete()
    waiting = RunFactory(kind="score_contexts", dataset=dataset, state="queued")
    pair = dataset.pairs.first()
    client.force_login(owner)

    def page(name: str, *args: int) -> str:
        return squeezed(client.get(reverse(f"mlworkers:{name}", args=args)).text)

    assert "no other scores to compare with" in page("context_scores", run.pk)
    assert "No contexts can be shown" in page("pair_contexts", run.pk, pair.pk)
    assert "when the run has ended" in page("context_scores", waiting.pk)


def test_strangers_and_other_kinds_and_pairs_of_other_datasets_are_not_found(
    client, owner, stranger, dataset
) -> None:
    run = scored_run(dataset)
    other, foreign = RunFactory(kind="score_pairs", dataset=dataset), PairFactory()

    def status(user, name: str, *args: int) -> int:
        client.force_login(user)
        return client.get(reverse(f"mlworkers:{name}", args=args)).status_code

    assert status(stranger, "context_scores", run.pk) == 404
    assert status(stranger, "pair_contexts", run.pk, dataset.pairs.first().pk) == 404
    assert status(owner, "context_scores", other.pk) == 404
    assert status(owner, "pair_contexts", run.pk, foreign.pk) == 404
