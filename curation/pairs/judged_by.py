"""Who gave the judgements behind scores, and the mark that scores of simulated annotators carry everywhere."""

from collections.abc import Collection, Iterable, Sequence

PEOPLE, SIMULATED, BOTH = "people", "simulated annotators", "people and simulated annotators"


def judged_by(kind: str, *, annotators: int | None, simulated: int) -> str:
    """Who gave the judgements behind scores of that kind; "" where nobody judged. annotators: None if not known."""
    if kind != "human":
        return ""
    if not simulated:
        return PEOPLE
    return SIMULATED if annotators is not None and simulated >= annotators else BOTH


def judged_by_all(each: Collection[str]) -> str:
    """Who judged several sets of scores together, each as `judged_by` says it."""
    judges = set(each) - {""}
    return judges.pop() if len(judges) == 1 else BOTH if judges else ""


def mark_of(judges: str) -> str:
    """What is said beside scores of these judges: who they are where a program is among them, "" of people alone."""
    return judges if judges in {SIMULATED, BOTH} else ""


def marked(name: str, judges: str) -> str:
    """The name of scores with their mark."""
    return f"{name} ({mark})" if (mark := mark_of(judges)) else name


def with_mark(
    columns: Sequence[str], rows: Iterable[Sequence[object]], judges: str
) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """A table of figures from scores of these judges; with a column of the mark where a program is among them."""
    if not (mark := mark_of(judges)):
        return columns, rows
    return [*columns, "judged_by"], ([*row, mark] for row in rows)
