"""A fine-tuned classifier as a folder that transformers loads by itself, and that says where it comes from."""

from collections.abc import Iterable
from pathlib import Path

from curation.files.publishing.cards import LICENCE_NOT_STATED
from curation.files.publishing.prose import markdown_text
from mlworkers.science.encoders.pre_fine_tuning.tasks import Task
from mlworkers.science.encoders.saving import About, facts_listed, seen_save
from mlworkers.science.encoders.seen import Seen


def about_save(folder: Path, about: About, sentences: Iterable[str], *, task: Task, base: Seen) -> None:
    """Write a card into the folder of a saved model, and the keys of the sentences that it was trained on.

    base: what the model that was trained further had seen.
    """
    (folder / "README.md").write_text(card(about, task), encoding="utf-8")
    seen_save(folder, about, sentences, base=base)


def card(about: About, task: Task) -> str:
    """The README of the folder."""
    pairs = task.test.second is not None
    read = 'tokenizer("A first sentence.", "A second one.", return_tensors="pt")' if pairs else (
        'tokenizer("A sentence.", return_tensors="pt")'
    )  # fmt: skip
    found = (
        "the score, in 0..1"
        if not task.classes
        else f"the logits of {markdown_text(', '.join(task.classes))}"
    )
    licence = markdown_text(about.licence or LICENCE_NOT_STATED)
    base = markdown_text(about.base)
    return f"""---
library_name: transformers
pipeline_tag: text-classification
---
# Classifier of the task {markdown_text(task.label)}

Trained from {base} (SHA-256 of its files {about.base_sha256}): first on inference, if its row says so, then on
the task (STILTs; Phang, Févry and Bowman 2018). Of several seeds, this one has the median dev score. It gives {found}.

```python
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("path/to/this/folder")
model = AutoModelForSequenceClassification.from_pretrained("path/to/this/folder")
print(model(**{read}).logits)
```

## Data

{facts_listed(about.data)}

## Plan

{facts_listed(about.plan)}

## Licence

Licence of the inference data: {licence}. The licences of the task and of the base model hold for the weights too.
"""
