"""The pipelines of the queue “playground”, and how their worker gives back memory.

Loads the machine-learning libraries when the first question comes.
"""

from mlworkers.pipelines.finding_sentences import search_sentences
from mlworkers.pipelines.relating import relate_sentences
from mlworkers.pipelines.trying import try_paraphraser
from mlworkers.runs.attempts import Pipeline
from mlworkers.science.pretrained.compute import release_memory

__all__ = ["PIPELINES", "release_memory"]

PIPELINES: dict[str, Pipeline] = {
    "relate_sentences": relate_sentences,
    "search_sentences": search_sentences,
    "try_paraphraser": try_paraphraser,
}
