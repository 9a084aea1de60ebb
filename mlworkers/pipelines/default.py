"""The pipelines of the queue “default”. Their worker needs no machine-learning library."""

from mlworkers.pipelines.harvesting import harvest_pairs
from mlworkers.pipelines.linguistics import analyse_language
from mlworkers.pipelines.pairs import check_import, export_dataset, import_pairs, import_sentences
from mlworkers.pipelines.running_text import index_corpus
from mlworkers.pipelines.selecting import select_paraphrases
from mlworkers.runs.attempts import Pipeline

PIPELINES: dict[str, Pipeline] = {
    "analyse_language": analyse_language,
    "index_corpus": index_corpus,
    "harvest_pairs": harvest_pairs,
    "check_import": check_import,
    "import_pairs": import_pairs,
    "import_sentences": import_sentences,
    "export_dataset": export_dataset,
    "select_paraphrases": select_paraphrases,
}
