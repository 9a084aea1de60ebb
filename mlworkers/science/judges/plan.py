"""Every setting of a machine that judges tuples."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    PlanError,
    attempts_setting,
    concurrency_setting,
    dataset_setting,
    device_setting,
    endpoint_setting,
    setting,
    timeout_setting,
)
from mlworkers.science.pretrained.sources import SCORERS, ModelError, parse_source

ANSWERING = (*SCORERS, "generator")  # models of runs that can choose among pairs


@dataclass(frozen=True)
class JudgingPlan:
    """A machine that answers the questions of a campaign, each tuple in two orders, apart from people."""

    dataset: str = dataset_setting()
    block: int = setting(
        "Tuples",
        "The tuples that a campaign keeps for the comparison of models with people.",
        refers_to="block",
        low=1,
    )
    model: str = setting(
        "Model annotator",
        "An encoder, a cross-encoder or a language model. The pair with the highest score of an encoder is its "
        "best, that with the lowest its worst; a language model is asked as people are. Give packaged:NAME, "
        "run:ID, a folder or a hub id. Or openai:NAME for a chat model behind the endpoint that the worker is "
        "set to.",
        refers_to="model",
        kinds=ANSWERING,
        endpoint=True,
    )
    guidelines: bool = setting(
        "Guidelines",
        "Puts the guidelines before each question to a language model.",
        default=True,
        essential=True,
    )
    max_tokens: int = endpoint_setting(
        "Longest answer",
        "Most tokens of an answer. A longer one is cut off and counts as none. Models that reason before "
        "they answer need more.",
        default=64,
        bounds=(8, 100_000),
        unit="tokens",
    )
    concurrency: int = concurrency_setting()
    timeout: float = timeout_setting()
    attempts: int = attempts_setting()
    shard_tuples: int = setting(
        "Tuples of a shard",
        "Number of tuples in one shard. Several workers can share the shards of a run.",
        default=50,
        bounds=(1, 10_000),
    )
    device: str = device_setting()

    def __post_init__(self) -> None:
        if self.endpoint_model:
            try:
                parse_source(self.model)
            except ModelError as error:
                raise PlanError("%(problem)s", problem=error) from error

    @property
    def endpoint_model(self) -> str:
        """The name of the model behind an endpoint; empty for a model that is loaded here."""
        kind, _, name = self.model.partition(":")
        return name if kind == "openai" else ""
