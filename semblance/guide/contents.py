"""The order of the guide: its groups, which are the folders of docs/guide, and where moved pages are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_WORDS = {"start": 1200, "how-to": 600, "explain": 800}  # of a page in the group
UNLIMITED = frozenset({"evidence"})  # a table of claims
MOST_WORDS_IN_ALL = 40_000
MOST_WORDS_READ = 25_000  # of all pages outside Reference and UNLIMITED, which people look up and do not read


@dataclass(frozen=True)
class Group:
    """folder: of the group's pages. title: what readers see. order: names of pages; others follow by name."""

    folder: str
    title: str
    order: Sequence[str]


GROUPS = (
    Group("start", "Start", ("first-campaign", "better-encoder", "pairs-without-labels")),
    Group(
        "how-to",
        "How to",
        (
            "import-pairs", "sample-pairs", "split", "duplicates", "search", "members", "publish-dataset",
            "guidelines", "attention-checks", "size-and-cost", "recruit-and-pay", "watch-and-stop",
            "careless-annotators", "publish-scores", "model-annotators", "rating-scale", "calibrate",
            "grow-a-campaign", "import-judgements", "annotate", "consent-and-data-protection", "generate-pairs",
            "use-an-endpoint", "review-sentences", "train-and-compare", "search-settings", "evaluate-encoder",
            "write-paraphrases", "contrastive-training", "pre-fine-tune", "score-by-contexts",
            "start-and-follow-runs", "use-the-api",
        ),
    ),
    Group(
        "explain",
        "Explain",
        (
            "best-worst-scaling", "reliability", "standard-errors", "scores-and-scales", "human-likeness",
            "weighting", "generation", "leaks", "paraphrases", "contexts", "relatedness", "evaluation-figures",
            "papers", "evidence", "other-tools", "languages",
        ),
    ),
    Group(
        "reference",
        "Reference",
        (
            "commands", "settings", "runs", "formats", "published-folder", "roles", "keys", "limits", "webhooks",
            "api", "python", "glossary",
        ),
    ),
    Group(
        "run-a-site",
        "Run a site",
        (
            "install", "requirements", "configure", "workers", "several-machines", "proxy", "sign-on", "mail",
            "watch", "back-up-and-upgrade", "troubleshooting", "translate",
        ),
    ),
    Group("contribute", "Contribute", ("change-the-code",)),
)  # fmt: skip
# Old name of a page, and the name of the page that answers its readers now. Addresses are kept for ever.
MOVED: Mapping[str, str] = {
    "campaigns": "size-and-cost",
    "datasets": "import-pairs",
    "deployment": "install",
    "encoders": "train-and-compare",
    "contrastive": "contrastive-training",
    "evaluation": "evaluate-encoder",
    "judging": "annotate",
    "operations": "back-up-and-upgrade",
    "pre-fine-tuning": "pre-fine-tune",
    "realism": "human-likeness",
    "review": "review-sentences",
    "sampling": "sample-pairs",
    "tutorial": "first-campaign",
    "unlabelled-text": "pairs-without-labels",
}
