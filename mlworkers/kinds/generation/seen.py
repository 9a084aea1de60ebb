"""The sentences that a generator was trained on, which it may repeat in what it writes."""

from mlworkers.models import Run
from mlworkers.pipelines.human_sentences import labelled_pairs
from mlworkers.pipelines.seen import seen_texts
from mlworkers.runs.storage import artifact_path
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.seen import NOTHING_KNOWN, Seen


def generator_trained(run: Run) -> Seen:
    """From its folder. Where that was removed, or does not say: the pairs that the run would learn today."""
    made = run.artifacts.filter(kind="generator").first()
    try:
        told = NOTHING_KNOWN if made is None else seen_by(artifact_path(made))
    except FileNotFoundError:
        told = NOTHING_KNOWN
    if told.known:
        return told
    plan = run.plan
    scores = run.dataset.score_sets.filter(name=plan.get("score_set", "")).first() if run.dataset else None
    if run.dataset is None or scores is None:
        return seen_texts(run, None)
    pairs, _left_out = labelled_pairs(run.dataset, str(plan.get("split", "")), scores)
    return seen_texts(run, [text for pair in pairs for text in (pair.a, pair.b)])


def generated(run: Run) -> Seen:
    """Of a model that was not trained here, nobody knows what it was trained on."""
    model = str(run.plan.get("model", ""))
    return NOTHING_KNOWN if model.startswith("run:") else Seen(unknown=(model,))
