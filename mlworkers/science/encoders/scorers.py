"""Ways to score pairs by encoders that were not trained for it: the baselines of Sun et al. 2022, tables 2, 4 and 5."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device

from curation.files.progress import Report
from curation.statistics.correlation import Scores
from mlworkers.science.encoders.encoding import EncoderError, encode, pair_cosines
from mlworkers.science.encoders.forward import length_batches
from mlworkers.science.encoders.scorers_plan import Way
from mlworkers.science.encoders.static import static_vectors
from mlworkers.science.pretrained.compute import Compute, Fitting
from mlworkers.science.pretrained.encoder import pooling_set
from mlworkers.science.training.schedule import Places

_PAIRS_PER_BLOCK = 512
Tokens = NDArray[np.float32]


def scores_by(
    way: Way,
    encoders: Sequence[SentenceTransformer],
    first: Sequence[str],
    second: Sequence[str],
    compute: Compute,
    *,
    report: Report,
) -> Scores:
    """The scores of n pairs, (n,). encoders: two of the way `TWO`, otherwise one, whose pooling cls and mean change.

    Raises EncoderError where a sentence has no token or a vector is not a number, ModelError for an unknown pooling.
    """
    encoder = encoders[0]
    if way is Way.STATIC:  # word vectors alone, no layer is computed
        return static_vectors(encoder, (*first, *second)).cosines(first, second)
    if way is Way.BERTSCORE:
        return bert_scores(encoder, first, second, compute, report=report)
    if way is Way.TWO:
        return two_encoder_scores(encoders[0], encoders[1], first, second, compute, report=report)
    if way is not Way.OWN:
        pooling_set(encoder, way.value)  # changes the encoder itself
    return pair_cosines(encoder, first, second, compute, report=report).values


def two_encoder_scores(
    one: SentenceTransformer,
    other: SentenceTransformer,
    first: Sequence[str],
    second: Sequence[str],
    compute: Compute,
    *,
    report: Report,
) -> Scores:
    """The dot product of the vectors of two encoders (Karpukhin et al. 2020), the mean of both orders of a pair: DPR
    has a question and a passage, a pair of sentences has no such order. Raises EncoderError.
    """
    sentences = list(dict.fromkeys((*first, *second)))
    place = {text: number for number, text in enumerate(sentences)}
    # (distinct, d) each: every sentence goes through both encoders once.
    left, right = (
        encode(each, sentences, compute, report=report).astype(np.float64) for each in (one, other)
    )
    if left.shape != right.shape:
        raise EncoderError(
            f"The two encoders give vectors of {left.shape[1]} and {right.shape[1]} numbers; only vectors of one "
            "length can be multiplied."
        )
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise EncoderError("An encoder gives a vector that is not a number; its weights are damaged.")
    a, b = ([place[text] for text in side] for side in (first, second))  # (n,) rows of left and right
    # Symmetrised: (f(a) · g(b) + f(b) · g(a)) / 2, with the two encoders f and g, does not depend on the
    # order.
    products: Scores = (
        np.einsum("nd,nd->n", left[a], right[b]) + np.einsum("nd,nd->n", left[b], right[a])
    ) / 2
    return products


def bert_scores(
    encoder: SentenceTransformer,
    first: Sequence[str],
    second: Sequence[str],
    compute: Compute,
    *,
    report: Report,
) -> Scores:
    """BERTScore's F1 of each pair, (n,), from the last layer of an encoder, without weights of words and without
    rescaling (Zhang et al. 2020, section 3). report counts pairs. Raises EncoderError where a sentence has no token.
    """
    scores = np.empty(len(first))
    for start in range(0, len(first), _PAIRS_PER_BLOCK):
        block = slice(start, start + _PAIRS_PER_BLOCK)
        # Token vectors of one block at a time: they take t · d numbers a sentence, not d.
        texts = list(dict.fromkeys((*first[block], *second[block])))
        tokens = dict(zip(texts, token_vectors(encoder, texts, compute), strict=True))
        pairs = zip(first[block], second[block], strict=True)
        # Symmetric: precision and recall change places with the order.
        scores[block] = [greedy_f1(tokens[one], tokens[other]) for one, other in pairs]
        report(min(block.stop, len(first)), len(first), "Scoring pairs")
    return scores


def greedy_f1(left: Tokens, right: Tokens) -> float:
    """F1 of two sentences' tokens: precision is the mean, over the left ones, of the highest cosine with a right one,
    and recall the same from the right. left, right: vectors of length 1, (a, d) and (b, d).
    """
    # Each token is matched with its nearest of the other sentence; several tokens may share a match. The cost
    # is a · b · d products for a pair.
    cosines = left.astype(np.float64) @ right.astype(np.float64).T  # (a, b)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    # With one of them above 0 and the other below, the harmonic mean has no bound; it tends to 0 with either of them.
    return 0.0 if precision * recall <= 0 else 2 * precision * recall / (precision + recall)


def token_vectors(encoder: SentenceTransformer, sentences: Sequence[str], compute: Compute) -> list[Tokens]:
    """Of each sentence the vectors of its tokens with length 1, (t, d), without those that the tokenizer adds."""
    told = encoder.tokenizer(list(sentences), truncation=True, return_special_tokens_mask=True)
    added = [torch.tensor(mask, dtype=torch.bool) for mask in told["special_tokens_mask"]]  # (t,) each
    found: list[Tokens] = [np.empty((0, 0), dtype=np.float32)] * len(sentences)
    encoder.eval()
    fitting = Fitting()

    @torch.inference_mode()
    def of_part(places: Places) -> None:
        features = encoder.preprocess([sentences[place] for place in places])
        read = features["attention_mask"].bool().cpu()
        output = encoder[0](batch_to_device(dict(features), encoder.device))["token_embeddings"].float().cpu()
        for place, vectors, mask in zip(places.tolist(), output, read, strict=True):
            # The mask drops padding first, (longest, d) -> (t, d), on whichever side it is; `added` then has
            # the same t tokens and drops [CLS], [SEP] and the like.
            own = vectors[mask][~added[place]]
            if not len(own):
                raise EncoderError(f"The tokenizer finds no token in “{sentences[place][:60]}”.")
            found[place] = torch.nn.functional.normalize(own, dim=1).numpy()

    for batch in length_batches(
        np.array([len(mask) for mask in added]), tokens_per_batch=compute.tokens_per_batch
    ):
        fitting.parts(of_part, batch)
    return found
