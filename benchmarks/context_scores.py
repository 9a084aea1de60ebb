"""Scores of sentences in contexts: ours against the plain procedure, one sentence and one context at a time.

Both use the same small encoder-decoder, of the size that the run “Train a model for contexts” makes by default (random
weights: speed does not depend on them). A pair of sentences is scored in contexts of which no two are the same, as
`score_contexts` does it, in all three directions, with an empty cache. The plain procedure calls the model three times
for each sentence and context, with the library's own loss, and as many threads as there are cores.

With SEMBLANCE_REAL_DATA, the contexts and sentences are those of its novels. Without it, they are made.
"""

import os
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from _compare import every_round, is_quick, print_comparison, rates_compared, spread_of_ratios
from _sentences import sentences_made

from curation.files.documents import Document, read_documents
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.gaps import Question
from mlworkers.science.contexts.kept_values import KeptValues
from mlworkers.science.contexts.language_model import ContextModel
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.model_training import context_model_initialised
from mlworkers.science.contexts.similarity import Terms
from mlworkers.science.pretrained.compute import choose_compute

BASELINE = "the library's loss, one sentence and one context at a time"
NOVELS = 3
PLAN = ContextModelPlan(dataset="", corpus=0)


def documents(novels: int | None = NOVELS) -> list[Document]:
    """Of the first so many novels, or of all of them; made ones without them."""
    folder = Path(os.environ.get("SEMBLANCE_REAL_DATA", "")) / "novels"
    if "SEMBLANCE_REAL_DATA" in os.environ and folder.is_dir():
        files = sorted(folder.glob("*.txt"))[:novels]
        return list(chain.from_iterable(map(read_documents, files)))
    made = sentences_made(5000)
    return [Document(f"made {start}", [made[start : start + 100]], []) for start in range(0, len(made), 100)]


def plain_terms(model: ContextModel, questions: list[Question]) -> Terms:
    """Each pass by itself."""
    found = np.full((len(questions), 3), np.nan)
    with torch.inference_mode():
        for place, rows in enumerate(model.rows(questions)):
            for number, row in enumerate(rows):
                loss = model.model(
                    input_ids=torch.tensor([row.read]), labels=torch.tensor([row.writes[0]])
                ).loss
                found[place, number] = -float(loss)
    return found


def main() -> None:
    quick = is_quick(__doc__)
    contexts, pairs = (20, 1) if quick else (40, 3)
    rng = np.random.default_rng(1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        corpus_write(documents(), folder)
        corpus = Corpus(folder)
        texts = [f" {corpus.text(place)}" for place in range(min(len(corpus), 20_000))]
        model = context_model_initialised(texts, PLAN, choose_compute("cpu"))
        model.model.eval()
        inside = np.concatenate(
            [
                np.arange(start + 1, end - 1)
                for start, end in zip(corpus.segments[:-1], corpus.segments[1:], strict=True)
            ]
        )
        places = iter(rng.permutation(inside).tolist())
        asked: list[list[Question]] = []
        for _ in range(pairs):
            of_pair: list[str] = []
            while len(of_pair) < 2:
                if model.fits(text := corpus.text(next(places))):
                    of_pair.append(text)
            of_contexts = [corpus.context(next(places), PLAN.left, PLAN.right) for _ in range(contexts)]
            asked.append([Question(text, context) for context in of_contexts for text in of_pair])
        rounds = iter(range(1000))

        def ours() -> list[Terms]:
            kept = KeptValues(folder / f"kept-{next(rounds)}")  # cold
            questioner = Questioner(model, kept)
            return [questioner.terms(questions) for questions in asked]

        def plain() -> list[Terms]:
            return [plain_terms(model, questions) for questions in asked]

        apart = max(
            float(np.abs(one[:, 1:] - other).max()) for one, other in zip(ours(), plain(), strict=True)
        )
        seconds = every_round(ours, plain, rounds=1 if quick else 3)
        work = sum(map(len, asked))
        print_comparison(
            rates_compared(
                "context_scores",
                work=work,
                unit="scores/s",
                seconds=min(seconds[0]),
                baseline=BASELINE,
                baseline_seconds=min(seconds[1]),
                notes=f"{pairs} pairs, {contexts} distinct contexts each, three directions; "
                f"{sum(weight.numel() for weight in model.model.parameters()):,} parameters; largest difference "
                f"{apart:.1e} nats; {spread_of_ratios(seconds)}",
            )
        )


if __name__ == "__main__":
    main()
