"""The README of a paraphraser's folder."""

from collections.abc import Mapping
from typing import Any

from curation.files.publishing.cards import LICENCE_NOT_STATED
from curation.files.publishing.prose import markdown_text
from mlworkers.science.encoders.saving import About, facts_listed
from mlworkers.science.paraphrasing.tags import TagBounds


def card(about: About, bounds: TagBounds, figures: Mapping[str, Any], *, labels_from: str) -> str:
    """How the model is used, what it was trained on, and what must be said of figures that it has a part in."""
    similarity = ", ".join(tag.name for tag in bounds.similarity)
    lexical = ", ".join(tag.name for tag in bounds.lexical)
    base = (
        f"Trained further from {markdown_text(about.base)}." if about.base else "Trained from random weights."
    )
    licence = markdown_text(about.licence or LICENCE_NOT_STATED)
    return f"""---
library_name: transformers
pipeline_tag: text2text-generation
---
# Paraphraser with two tags

Writes a paraphrase of a sentence with a chosen similarity in meaning and in wording (Ogasa, Kajiwara and Arase 2024,
ConPGS). {base}

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("path/to/this/folder")
model = AutoModelForSeq2SeqLM.from_pretrained("path/to/this/folder")
source = "The committee will meet again in spring."
tokens = tokenizer("<{bounds.similarity[-1].name}> <{bounds.lexical[0].name}> " + source, return_tensors="pt")
length = len(tokenizer(source, add_special_tokens=False)["input_ids"])
written = model.generate(
    input_ids=tokens["input_ids"],
    attention_mask=tokens["attention_mask"],
    num_beams=5,
    min_new_tokens=int(0.75 * length),
    max_new_tokens=int(1.5 * length) + 2,
)
print(tokenizer.decode(written[0], skip_special_tokens=True))
```

## Tags

Similarity: {similarity}. BLEU: {lexical}.
SIM t asks for a similarity above t, up to the next tag, on a scale of 0 to 100.

## Figures

{facts_listed(figures)}

## Data

{facts_listed(about.data)}
{_disclosure(markdown_text(labels_from))}
## Plan

{facts_listed(about.plan)}

## Licence

Licence of the data: {licence}. {"The licence of the base model holds for the weights too." if about.base else ""}
"""


def _disclosure(benchmark: str) -> str:
    """The sentence about the benchmark that the labeller was trained on, if there is one."""
    if not benchmark:
        return ""
    return (
        f"\nThe pairs were chosen by a scorer that was trained on {benchmark}. If a model that is trained on "
        f"paraphrases from here is evaluated on {benchmark}, say so beside the figure.\n"
    )
