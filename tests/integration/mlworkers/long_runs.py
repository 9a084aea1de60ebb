"""Runs of every kind, tiny: each is carried out once undisturbed, and has a twin that is killed."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tests.integration.mlworkers.installation import PATIENCE, Installation, copied

ENCODER = "the tiny encoder"  # stands for its folder
TRANSLATORS = "the tiny translators"  # stands for the folder of their folders
GENERATOR = {"layers": 1, "width": 32, "vocabulary": 300, "context": 128, "batch": 8, "steps": 240}
GENERATION = {"model": "run:1", "sources": 12, "samples": 2, "shard_sources": 2, "max_tokens": 24}
REALISM = {"run": 2, "model": ENCODER, "folds": 3}
FINE_TUNED = {**REALISM, "classifier": "fine-tuned", "epochs": 1, "batch_size": 8, "checkpoint_steps": 2}
TRAINING = {"model": ENCODER, "snapshot": 1, "epochs": 2, "batch_size": 8, "learning_rate": 0.001}
COMPARISON = {
    "scores": "run 2: target",
    "realism": "run 3: p_D",
    "weightings": "plain,realism",
    "controls": False,
    "seeds": 1,
}
SEARCH = {
    "model": ENCODER,
    "scores": "run 2: target",
    "realism": "run 3: p_D",
    "snapshot": 1,
    "test_score_set": "reference",
    "temperatures": "fitted,0.5",
    "learning_rates": "0.001",
    "epochs": "1",
    "batch_sizes": "8",
    "dev_share": 0.3,
    "bootstrap": 100,
}
CROSS_VALIDATION = {
    "model": ENCODER,
    "score_set": "reference",
    "methods": "dice,mean,fine-tuned",
    "protocols": "random",
    "folds": 2,
    "epochs": "1",
    "batch_size": 8,
    "learning_rate": 0.001,
    "bootstrap": 100,
}
CELLS = {"sim_above": 0, "sim_width": 50, "bleu_first": 20, "bleu_width": 20, "bleu_most": 100}
SELECTION = {"similarity": "run 20: similarity", "bleu": "run 20: BLEU", "split": "", "train_pairs": 40}
SELECTION |= {"dev_pairs": 2, "test_pairs": 2}
PARAPHRASER = {"selection": 21, "layers": 1, "width": 32, "vocabulary": 300, "context": 64, "epochs": 12}
PARAPHRASER |= {"batch_size": 4, "learning_rates": "0.005"}
PARAPHRASES = {"model": "run:23", "labeller": "run:22", "tags": "SIM50 BLEU0, SIM50 BLEU20", "sources": 12}
PARAPHRASES |= {
    "least_tokens": 3,
    "shard_sources": 4,
    "language": "",
    "rerank": True,
    "candidates": 4,
    "best": 2,
}
TRIAL = {"source": "the dog runs on the grass", "similarity": "SIM50", "bleu": "BLEU20"}
TRIAL |= {"model": "run:23", "labeller": "run:22"}
LABELLER = {
    "snapshot": 1,  # the number is in its folder
    "model": ENCODER,
    "scores": "reference",
    "dev_share": 0.4,
    "seeds": 2,
    "epochs": 2,
    "batch_size": 8,
    "learning_rate": 0.003,
}
CONTRAST = {"model": ENCODER, "snapshot": 1, "batch_size": 8, "learning_rate": 0.001}
AUGMENTATIONS = {
    **CONTRAST,
    "test_score_set": "reference",
    "variants": "all",
    "complete": False,
    "seeds": 1,
    "keep_encoders": True,
    "bootstrap": 100,
}
PRE_FINE_TUNING = {
    "model": ENCODER,
    "batch_size": 8,
    "learning_rate": 0.001,
    "tasks": "scenes | reference",
    "variants": "copy",
    "snapshot": 1,
    "dev_share": 0.3,
    "seeds": 2,
    "pre_epochs": 4,
    "epochs": 4,
    "keep_models": True,
    "bootstrap": 100,
}
ROUND_TRIP = {"forward": f"{TRANSLATORS}/there", "backward": f"{TRANSLATORS}/back", "sources": 12}
ROUND_TRIP |= {"least_tokens": 2, "check_language": False, "shard_sources": 3}
OF_ROUND_TRIPS = {"model": ENCODER, "written_by": 31, **CELLS}
OF_GENERATED = {"model": ENCODER, "written_by": 2, **CELLS}
CHOSEN_TRIPS = {"similarity": "run 39: similarity", "bleu": "run 39: BLEU", "split": "", "written_by": 31}
CHOSEN_TRIPS |= {"train_pairs": 3, "dev_pairs": 1, "test_pairs": 1}
CONSISTENCY = {"scores": "run 2: target", "human_scores": "reference", "model": ENCODER, "folds": 3}
CONTEXT_MODEL = {"corpus": 30, "layers": 1, "width": 32, "vocabulary": 300, "steps": 60, "batch": 8}
CONTEXT_MODEL |= {"held_out": 0.1, "part_tokens": 32}
DISCRIMINATIVE = {"corpus": 30, "steps": 60, "hidden": 32, "embedding": 32, "vocabulary": 300, "batch": 8}
DISCRIMINATIVE |= {"held_out": 0.1}
CONTEXT_SCORES = {"corpus": 30, "model": "run:32", "discriminator": "run:33", "snapshot": 0, "most_pairs": 24}
CONTEXT_SCORES |= {"contexts": 5, "background": 4, "resamples": 100, "shard_pairs": 4, "part_tokens": 32}
TRAJECTORIES = {"model": "run:1", "choice": "trajectories", "snapshot": 0, "most_pairs": 24, "contexts": 8}
TRAJECTORIES |= {"background": 4, "resamples": 100, "shard_pairs": 4, "part_tokens": 32}
SCORERS = {"score_set": "reference", "snapshot": 1, "split": "test", "bootstrap": 100}
SCORERS |= {"scorers": "run:11, mean:run:11, static:run:11, bertscore:run:11, two:run:11+run:6, run:22"}
CURVES = {"corpus": 30, "score_set": "reference", "split": "", "most_pairs": 16, "sizes": "50, 0"}
CURVES |= {"contexts": "3, 5", "steps": 60, "layers": 1, "width": 32, "vocabulary": 300, "part_tokens": 32}
CURVES |= {"background": 3, "shard_pairs": 4, "bootstrap": 100}
SPEED = {"models": "run:11, run:6", "sentences": 32, "batch_size": 8, "rounds": 2}
HARVEST = {"corpus": 1, "pairs": 12, "dev_share": 0.25, "test_share": 0.25, "shortest": 3}
SECTIONS = {"corpus": 30, "model": ENCODER, "section_sentences": 6, "triplets": 64, "test_triplets": 16}
SECTIONS |= {"shortest": 3, "batch_size": 4, "epochs": 4, "test_share": 0.4, "learning_rate": 0.001}


PREVIEW = {**GENERATION, "sources": 4}


@dataclass(frozen=True)
class Long:
    """A kind of run and what its plan says.

    Later ones name earlier ones by their place: the first is run 1. The evaluation makes snapshot 1; what scores or
    counts all pairs reads it, because runs that come later add pairs before the twins begin. An import has a dataset
    and an uploaded file of its own, and so has its twin, also one of sentences or of running text; composing has a
    dataset and a pool. Pre-fine-tuning, and the index of sentences with its search, have a dataset of inference
    pairs, which their twins have too; a machine that judges has a dataset with a campaign.
    What reads a corpus belongs to the dataset of the first one, but for what adds its sentences: it has a corpus and a
    dataset of its own.
    """

    name: str
    kind: str
    plan: Mapping[str, Any]


LONG = [
    Long("bootstrap", "bootstrap_generator", {"score_set": "reference", **GENERATOR}),
    Long("generation", "generate_pairs", GENERATION),
    Long("realism", "score_realism", REALISM),
    Long("fine-tuned realism", "score_realism", FINE_TUNED),
    Long("evaluation", "evaluate_encoder", {"model": ENCODER, "score_set": "reference"}),
    Long("training", "train_encoder", {"scores": "reference", **TRAINING}),
    Long("comparison", "compare_weightings", {"test_score_set": "reference", **TRAINING, **COMPARISON}),
    Long("search", "search_settings", SEARCH),
    Long("consistency", "score_consistency", CONSISTENCY),
    Long("preview", "preview_generation", PREVIEW),
    Long("initial encoder", "initialise_encoder", {"layers": 1, "width": 32, "vocabulary": 300}),
    Long("scoring of pairs", "score_pairs", {"model": ENCODER, "snapshot": 1}),
    Long("composing", "compose_by_similarity", {"model": ENCODER, "edges": "-1,0.5,1", "pairs_per_band": 8}),
    Long("question", "relate_sentences", {"first": "the dog runs", "second": "a cat sits", "artifact": 1}),
    Long("check", "check_import", {}),
    Long("import", "import_pairs", {}),
    Long("analysis", "analyse_language", {"realism": "run 3: p_D", "snapshot": 1}),
    Long("relatedness", "analyse_relatedness", {"score_set": "reference", "resamples": 100}),
    Long("cross-validation", "cross_validate_encoder", CROSS_VALIDATION),
    Long("labelling", "label_paraphrases", {"model": ENCODER, "snapshot": 1, **CELLS}),
    Long("selection", "select_paraphrases", SELECTION),
    Long("labeller", "train_labeller", LABELLER),
    Long("paraphraser", "train_paraphraser", PARAPHRASER),
    Long("paraphrases", "write_paraphrases", PARAPHRASES),
    Long("sentences", "import_sentences", {}),
    Long("contrast", "train_contrastive", {**CONTRAST, "epochs": 3, "paraphrases": "all"}),
    Long("augmentations", "compare_augmentations", AUGMENTATIONS),
    Long("pre-fine-tuning", "compare_pre_fine_tuning", PRE_FINE_TUNING),
    Long("corpora", "profile_corpora", {"model": "run:1", "snapshot": 1, "split": "train", "bootstrap": 100}),
    Long("corpus", "index_corpus", {}),
    Long("round trips", "translate_round_trip", ROUND_TRIP),
    Long("context model", "train_context_model", CONTEXT_MODEL),
    Long("discriminative model", "train_discriminative_model", DISCRIMINATIVE),
    Long("context scores", "score_contexts", CONTEXT_SCORES),
    Long("trajectories", "score_contexts", TRAJECTORIES),
    Long("sentence index", "index_sentences", {"model": ENCODER, "shard_sentences": 10}),
    Long("sentence search", "search_sentences", {"sentence": "a dog runs", "index": 36}),
    Long("trial", "try_paraphraser", TRIAL),
    Long("labelling of round trips", "label_paraphrases", OF_ROUND_TRIPS),
    Long("selection of round trips", "select_paraphrases", CHOSEN_TRIPS),
    Long("harvest", "harvest_pairs", HARVEST),
    Long("scorers", "compare_scorers", SCORERS),
    Long("speed", "measure_speed", SPEED),
    Long("sections", "train_on_sections", SECTIONS),
    Long("curves", "measure_context_curves", CURVES),
    Long("judging", "judge_tuples", {"model": ENCODER, "shard_tuples": 2}),
    Long("labelling of generated pairs", "label_paraphrases", OF_GENERATED),
    Long("export", "export_dataset", {}),  # late: it writes what the others added
]
# Of a result: every attempt has its own.
TIMES = {"seconds", "rows_per_second", "most_seconds", "pairs_per_second", "timed_encoders"}
# Of a result: counted in the database, where later runs have added rows when a twin begins.
COUNTED = {"judge", "work"}
RESULT = "SELECT result FROM mlworkers_run WHERE id = {}"
FILES = "SELECT kind, sha256 FROM mlworkers_artifact WHERE run_id = {} ORDER BY path"
FIGURES = (
    "SELECT label, metric, n, seed, value, low, high FROM mlworkers_evaluation WHERE run_id = {} "
    "AND metric <> 'sentences per second' ORDER BY id"
)
# What the run added to its dataset, or, an import, to the dataset that is its own.
PAIRS = """
SELECT a.text, b.text, pair.split, pair.origin, pair.status, score.value, score_set.kind
FROM mlworkers_run run
JOIN curation_pair pair ON pair.run_ref = run.id OR (run.kind = 'import_pairs' AND pair.dataset_id = run.dataset_id)
JOIN curation_sentence a ON a.id = pair.a_id JOIN curation_sentence b ON b.id = pair.b_id
JOIN curation_pairscore score ON score.pair_id = pair.id
JOIN curation_scoreset score_set ON score_set.id = score.score_set_id
WHERE run.id = {0} AND (score_set.run_ref = {0} OR run.kind = 'import_pairs') ORDER BY pair.id, score_set.id
"""
COMPOSED = """
SELECT a.text, b.text, pair.origin, pair.subset, pair.split FROM mlworkers_run run
JOIN curation_pair pair ON run.kind = 'compose_by_similarity' AND pair.dataset_id = run.dataset_id
    OR run.kind = 'harvest_pairs' AND pair.run_ref = run.id
JOIN curation_sentence a ON a.id = pair.a_id JOIN curation_sentence b ON b.id = pair.b_id
WHERE run.id = {} ORDER BY pair.id
"""
POOLED = """
SELECT sentence.text, pooled.source FROM mlworkers_run run
JOIN curation_pooledsentence pooled ON run.kind = 'import_sentences' AND pooled.dataset_id = run.dataset_id
JOIN curation_sentence sentence ON sentence.id = pooled.sentence_id WHERE run.id = {} ORDER BY pooled.id
"""
SETS = "SELECT name, kind, low, high, method FROM curation_scoreset WHERE run_ref = {} ORDER BY id"
OF_PAIRS = """
SELECT a.text, b.text, score.value FROM curation_pairscore score
JOIN curation_pair pair ON pair.id = score.pair_id
JOIN curation_sentence a ON a.id = pair.a_id JOIN curation_sentence b ON b.id = pair.b_id
JOIN curation_scoreset score_set ON score_set.id = score.score_set_id
WHERE score_set.run_ref = {} AND score_set.kind <> 'target' ORDER BY score.pair_id, score_set.id
"""
OF_SENTENCES = """
SELECT score.sentence_id, score.value, score.fold FROM curation_sentencescore score
JOIN curation_scoreset score_set ON score_set.id = score.score_set_id
WHERE score_set.run_ref = {} ORDER BY score.sentence_id
"""
OF_MACHINES = """
SELECT row.place, row.reversed, row.best_slot, row.worst_slot FROM curation_machinejudgement row
JOIN curation_machinejudge judge ON judge.id = row.judge_id WHERE judge.run_ref = {} ORDER BY row.place, row.reversed
"""
SNAPSHOTS = "SELECT number FROM curation_snapshot WHERE run_ref = {}"
QUEUE = "UPDATE mlworkers_run SET state = 'queued' WHERE id = {}"
STATE = "SELECT state, message FROM mlworkers_run WHERE id = {}"

# Rows of runs that wait for nobody, until a test lets them.
PREPARE = """
import json
from dataclasses import asdict
from django.conf import settings
from django.core.files import File
from django.core.management import call_command
from curation.datasets.services import dataset_create
from curation.exchange.exporting import snapshot_create
from curation.exchange.importing import ImportOptions
from curation.exchange.pool import SentenceOptions, sentences_import
from curation.exchange.sentence_uploads import sentences_upload
from curation.exchange.uploads import import_check, import_upload
from curation.models import Dataset, TupleBlock
from curation.files.documents import read_documents
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from django.utils.timezone import now
from annotation.campaigns.machine_block import tuples_reserve
from annotation.campaigns.services import campaign_create, campaign_open
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import content_of
home = settings.SEMBLANCE_HOME
call_command("import_pairs", str(home / "pairs.tsv"), dataset="scenes", create=True, scale=[0.0, 5.0])

def own_upload(slug):
    dataset = dataset_create(slug=slug, name=slug)
    with (home / "pairs.tsv").open("rb") as file:
        batch = import_upload(dataset=dataset, files=[File(file, "pairs.tsv")], by=None)
    import_check(batch=batch, options=ImportOptions(scale=(0, 5)))
    return {"dataset": slug, "batch": batch.pk}

def own_pool(slug):
    dataset = dataset_create(slug=slug, name=slug)
    sentences_import(dataset=dataset, path=home / "pool.txt", options=SentenceOptions(), by=None)
    return {"dataset": slug}

def own_sentences(slug):
    dataset = dataset_create(slug=slug, name=slug)
    with (home / "pool.txt").open("rb") as file:
        batch = sentences_upload(
            dataset=dataset, file=File(file, "pool.txt"), options=SentenceOptions(), by=None
        )
    return {"dataset": slug, "batch": batch.pk}

def own_corpus(slug):
    dataset = dataset_create(slug=slug, name=slug)
    with (home / "corpus.txt").open("rb") as file:
        batch = import_upload(dataset=dataset, files=[File(file, "corpus.txt")], by=None, kind="corpus")
    call_command("import_pairs", str(home / "pairs.tsv"), dataset=slug, scale=[0.0, 5.0], verbosity=0)
    return {"dataset": slug, "batch": batch.pk}

def inference(_slug):
    # One for both twins: the models name their dataset and snapshot.
    if not Dataset.objects.filter(slug="inference").exists():
        call_command("import_pairs", str(home / "inference.tsv"), dataset="inference", create=True)
        snapshot_create(dataset=Dataset.objects.get(slug="inference"))
    return {"dataset": "inference"}

def own_text(slug):
    dataset = dataset_create(slug=slug, name=slug)
    return {"dataset": slug}

def indexed(run):
    # Of runs that add a corpus's sentences: each has a corpus of its own, made here because numbers of runs count.
    made = Run.objects.create(kind="index_corpus", dataset=run.dataset, queue="default", state="succeeded")
    path = f"runs/{made.pk}/corpus"
    folder = home / path
    folder.mkdir(parents=True)
    corpus_write(read_documents(home / "corpus.txt"), folder)
    index_write(Corpus(folder), folder)
    Artifact.objects.create(run=made, kind="corpus", path=path, sha256=content_of(folder)[0])
    Run.objects.filter(pk=run.pk).update(plan=run.plan | {"corpus": made.pk})

def of_first_corpus(slug):
    return {"dataset": Run.objects.filter(kind="index_corpus").earliest("pk").dataset.slug}

def block(slug):
    # One for both twins, which are asked alike.
    if not Dataset.objects.filter(slug="judged").exists():
        call_command("import_pairs", str(home / "pairs.tsv"), dataset="judged", create=True, scale=[0.0, 5.0])
        campaign = campaign_create(dataset=Dataset.objects.get(slug="judged"), name="judged", guideline="Read.")
        tuples_reserve(campaign=campaign_open(campaign=campaign, at=now()), number=12)
    return {"dataset": "judged", "block": TupleBlock.objects.get().pk}

OWN = {
    "ImportPlan": own_upload, "BandsPlan": own_pool, "SentencesPlan": own_sentences, "CorpusPlan": own_corpus,
    "PreFineTuningPlan": inference, "JudgingPlan": block,
}
OWN |= {"HarvestPlan": own_text, "SentenceIndexPlan": inference, "SentenceSearchPlan": inference}
CORPUS_PLANS = (
    "ContextModelPlan", "DiscriminativePlan", "ContextScoresPlan", "SectionsPlan",
    "ContextCurvesPlan",
)
OWN |= dict.fromkeys(CORPUS_PLANS, of_first_corpus)
runs = json.loads((home / "runs.json").read_text())
for number, (kind, plan) in enumerate(runs * 2):
    kind = kind_named(kind)
    own = OWN.get(kind.plan.__name__)
    values = own(f"own-{number}") if own else {"dataset": "scenes"}
    plan = asdict(plan_from(kind, values | plan if kind.needs_dataset else plan))
    dataset = Dataset.objects.get(slug=values["dataset"])
    Run.objects.create(kind=kind.name, plan=plan, queue="gpu", dataset=dataset, state="cancelled")
model = Run.objects.create(kind="train_encoder", queue="gpu", state="cancelled")
Artifact.objects.create(run=model, kind="encoder", path=f"runs/{model.pk}/encoder", sha256="0" * 64)
for run in Run.objects.filter(kind="harvest_pairs").order_by("pk"):  # after the first artefact, which runs name
    indexed(run)
print(model.pk)
"""


def prepare(installed: Installation, encoder: Path, translators: Path) -> None:
    """A dataset of scenes, and two runs of each that are not yet queued."""
    (installed.home / "pairs.tsv").write_text("\n".join(lines()))
    pool = {sentence for line in lines()[1:] for sentence in line.split("\t")[:2]}
    (installed.home / "pool.txt").write_text("\n".join(sorted(pool)))
    (installed.home / "corpus.txt").write_text("\n".join(line.split("\t")[0] for line in lines()[1:]))
    (installed.home / "inference.tsv").write_text("\n".join(inference_lines()))
    runs = json.dumps([(long.kind, dict(long.plan)) for long in LONG])
    runs = runs.replace(ENCODER, str(encoder)).replace(TRANSLATORS, str(translators))
    (installed.home / "runs.json").write_text(runs)
    model = installed.manage("shell", "-v", "0", given=PREPARE).split()[-1]
    copied(encoder, installed.home / "runs" / model / "encoder")


def lines() -> list[str]:
    """Pairs of little scenes: the nearer the verbs, the higher the score; train and test share no sentence."""
    scenes = product(("dog", "cat", "bird", "child"), ("grass", "mat", "tree"), ("runs", "sits", "sings"))
    rows = ["sentence1\tsentence2\tscore\tsplit"]
    for number, (who, where, does) in enumerate(scenes):
        split = "test" if who == "child" else "train"
        rows.append(f"The {who} {does} on the {where}.\tA {who} {does} near a {where}.\t5\t{split}")
        rows.append(f"The {who} {does} by the {where}.\tA {who} is with a {where}.\t{number % 4}\t{split}")
    return rows


def inference_lines() -> list[str]:
    """Pairs of each class, and a copy of each sentence; none has a sentence of `lines`."""
    rows = ["sentence1\tsentence2\tsubset\tsplit"]
    for number, who in enumerate(("dog", "cat", "bird", "child", "man", "woman")):
        premise = f"In the tree the {who} plays with ball {number}."
        for label in ("entailment", "neutral", "contradiction"):
            hypothesis = f"A {who} is {label} {number} in a tree."
            rows.append(f"{premise}\t{hypothesis}\t{label}\ttrain")
            rows.append(f"{hypothesis}\tSo {hypothesis}\tcopy\ttrain")
        rows.append(f"{premise}\tSo {premise}\tcopy\ttrain")
    return rows


def carry_out(installed: Installation, run: int) -> dict[str, Any]:
    """Queue the run, wait until a worker has ended it, and return its outcome."""
    queue(installed, run)
    return outcome(installed, run)


def queue(installed: Installation, run: int) -> None:
    installed.write(QUEUE.format(run))


def outcome(installed: Installation, run: int) -> dict[str, Any]:
    """How the run ended, and what it made, measured and published; without times, attempts and its own number."""
    installed.eventually(STATE.format(run), lambda found: found[0][0] not in {"queued", "running"})
    kept_is_gone(installed, run)
    [[stored]] = installed.rows(RESULT.format(run))
    result = json.loads(stored) if isinstance(stored, str) else stored
    own = [number for (number,) in installed.rows(SNAPSHOTS.format(run))]
    for name in ("snapshot", "test_snapshot"):
        if result.get(name) in own:
            result[name] = "its own"
    [[state, message]] = installed.rows(STATE.format(run))
    for trial in result.get("trials", []):
        del trial["seconds"]
    for training in result.get("trainings", []):
        del training["seconds"]
    told = {
        "state": state,
        "message": message,
        "result": {name: value for name, value in result.items() if name not in TIMES | COUNTED},
        "snapshots": len(own),
        "folders": [
            path.name for path in (installed.home / "runs" / str(run)).glob("*/") if not path.name.isdigit()
        ],
    }
    queries = (FILES, FIGURES, PAIRS, COMPOSED, POOLED, SETS, OF_PAIRS, OF_SENTENCES, OF_MACHINES)
    told |= {query: installed.rows(query.format(run)) for query in queries}
    return json.loads(json.dumps(told).replace(f"run {run}: ", "run N: "))


def kept_is_gone(installed: Installation, run: int) -> None:
    """What a run's attempts shared is removed just after its end; where its worker was killed then, by the next one."""
    until = time.monotonic() + PATIENCE
    while (installed.home / "runs" / str(run) / "kept").exists() and time.monotonic() < until:
        time.sleep(0.02)


def twin(name: str) -> int:
    """The run that is killed, of the same plan as the one that was not."""
    return len(LONG) + number(name)


def number(name: str) -> int:
    return [long.name for long in LONG].index(name) + 1
