"""Which device computes, how exactly, how many batches at a time, and what happens where memory is short."""

import gc
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Task = TypeVar("Task")
Result = TypeVar("Result")
Say = Callable[[str], object]

# Tokens of one forward pass, padding included: what fills the caches of a processor core, and a GPU.
_TOKENS = {"cpu": 1024, "mps": 8192, "cuda": 65536}
PRECISIONS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.int8,
}


# What CUDA, CPU and MPS say where torch raises no error of its own kind for it.
_MEMORY_SENTENCES = (
    "DefaultCPUAllocator",
    "not enough memory",
    "out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


class ComputeError(ValueError):
    """The device or the precision that was asked for is not to be had here."""


class TooLittleMemory(ComputeError):  # noqa: N818 - it names what is wrong
    """Not even one row at a time fits into the memory."""


@dataclass(frozen=True)
class Compute:
    """Where and how exactly a model computes, how many tokens one batch may hold there, and batches at a time."""

    device: torch.device
    dtype: torch.dtype
    tokens_per_batch: int
    workers: int

    def __str__(self) -> str:
        return f"{self.device}, {str(self.dtype).removeprefix('torch.')}"


def choose_compute(device: str = "auto", precision: str = "float32") -> Compute:
    """The compute that a plan names.

    device: "auto" (a GPU where there is one), "cpu", "cuda", "cuda:1", "mps".
    precision: "float32", in which figures agree between machines, "bfloat16", "float16", "int8" (encoders on
    a processor: `pretrained.int8`), or "auto" (bfloat16 on a GPU that has it, else float32). Raises ComputeError.
    """
    chosen = _device(device)
    workers = torch.get_num_threads() if chosen.type == "cpu" else 1
    return Compute(chosen, _dtype(precision, chosen), _TOKENS[chosen.type], workers)


def side_by_side(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, workers: int
) -> Generator[Result, None, None]:
    """Results in the order of their tasks, `workers` at a time, each computed on one processor core.

    Cores that share one small multiplication wait for the slowest of them, many times a second; on a machine that
    has other work, that wait is most of the time. Tasks are taken as workers come free, never all at once.
    """
    threads = torch.get_num_threads()
    waiting: deque[Future[Result]] = deque()
    try:
        with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        torch.set_num_threads(threads)


def _unsaid(_sentence: str) -> None:
    """A sentence that nobody reads."""


def halving(work: Callable[[int], Result], batch: int, say: Say = _unsaid) -> tuple[Result, int]:
    """`work(rows)`, with at most `batch` rows at a time; where memory does not suffice, with half as many.

    work: does the whole of its task in parts of at most so many rows. It is called again from the beginning, so it
    must start again (training: clear the gradients first).
    Returns its result and the rows that fitted, for the next call. say: receives one sentence for every halving.
    Raises TooLittleMemory where one row is too many.
    """
    rows = batch
    while True:
        try:
            return work(rows), rows
        except Exception as error:
            if not out_of_memory(error):
                raise
            if rows <= 1:
                raise TooLittleMemory(
                    "Not even one row at a time fits into the memory; use a smaller model or shorter texts, or a "
                    "device with more memory."
                ) from error
        # Outside of `except`: the error holds the frames, and they hold what filled the memory.
        rows //= 2
        release_memory()
        say(f"Memory ran short: going on with {rows} rows at a time")


class Rows(Protocol):
    """A list, an array or a range."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice, /) -> Any: ...


class Fitting:
    """Computes batches of rows, fewer rows at a time where memory is short, and remembers which share of a batch fits.

    A share and not a number of rows: batches hold about equally many tokens, and longer rows are fewer. Raises
    TooLittleMemory where one row is too many.
    """

    def __init__(self) -> None:
        self._share = 1.0

    def within(self, work: Callable[[int], Result], most: int, say: Say = _unsaid) -> Result:
        """`work` with at most so many rows at a time, as `halving` calls it."""
        wanted = max(1, int(most * self._share))
        found, size = halving(work, wanted, say)
        if size < wanted:  # what one batch needed counts for those after it
            self._share = min(self._share, size / most)
        return found

    def parts(self, work: Callable[[Any], Result], rows: Rows, say: Say = _unsaid) -> list[Result]:
        """`work` of the rows, at once or part by part, in their order."""

        def in_parts(size: int) -> list[Result]:
            return [work(rows[start : start + size]) for start in range(0, len(rows), size)]

        return self.within(in_parts, len(rows), say)

    def values(
        self,
        work: Callable[[Any], NDArray[Any]],
        rows: Rows,
        say: Say = _unsaid,
    ) -> NDArray[Any]:
        """As `parts`, where `work` gives an array with an entry for each row: (b, …)."""
        return np.concatenate(self.parts(work, rows, say))


def out_of_memory(error: BaseException) -> bool:
    """Whether the error, of Python, of torch or of what lies under it, says that memory does not suffice."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _MEMORY_SENTENCES)


def release_memory() -> None:
    """Give back what nothing refers to any more, on the device too."""
    gc.collect()
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.empty_cache()


def sent(tensor: Tensor, device: torch.device) -> Tensor:
    """On the device. CUDA has taken a copy when this returns, and nobody waits for the GPU; MPS reads the memory later,
    when it may hold something else, unless it is waited for.
    """
    return tensor.to(device, non_blocking=device.type == "cuda")


def devices_of(device: str, wanted: int | None) -> tuple[str, ...]:
    """The devices that share a training: names for `choose_compute`, one for each process.

    device: as there. wanted: how many, None for all. A processor is one device, however many cores it has; a number is
    that of processes, which share the cores. Raises ComputeError where there are fewer.
    """
    if wanted == 1:
        return (device,)
    kind = _device(device).type
    there = _there()[kind]
    if wanted is None:
        return tuple(f"{kind}:{number}" for number in range(there)) if there > 1 else (device,)
    if kind == "cpu":
        cores = _cores()
        if wanted > cores:
            raise ComputeError(
                f"The training is to be shared by {wanted} processes, and the processor has {cores} "
                f"{'core' if cores == 1 else 'cores'}; set devices to {cores} or less."
            )
        return (kind,) * wanted
    if wanted > there:
        raise ComputeError(
            f"The training is to be shared by {wanted} devices, and this machine has {there} of the kind {kind}; set "
            f"devices to {there} or less, or to all."
        )
    return tuple(f"{kind}:{number}" for number in range(wanted))


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _there() -> dict[str, int]:
    """How many devices of each kind there are, the best kind first."""
    return {
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
        "cpu": 1,
    }


def _device(name: str) -> torch.device:
    there = _there()
    if name == "auto":
        return torch.device(next(kind for kind, count in there.items() if count))
    kind, _, number = name.partition(":")
    if kind not in there or not (number or "0").isdigit():
        raise ComputeError(f"There is no device {name!r}; use auto, cpu, cuda, cuda:1 or mps.")
    if int(number or 0) >= there[kind]:
        raise ComputeError(f"This machine has no device {name!r}; use auto or cpu.")
    return torch.device(name)


def _dtype(precision: str, device: torch.device) -> torch.dtype:
    if precision == "auto":
        fast = device.type == "cuda" and torch.cuda.is_bf16_supported()
        return torch.bfloat16 if fast else torch.float32
    if precision not in PRECISIONS:
        raise ComputeError(f"There is no precision {precision!r}; use auto, {', '.join(PRECISIONS)}.")
    if precision == "float16" and device.type == "cpu":
        raise ComputeError("On a processor, float16 is slow and inexact; use float32 or bfloat16.")
    if precision == "int8" and device.type != "cpu":
        raise ComputeError(f"int8 is for processors; choose the device cpu, or float32 on {device}.")
    return PRECISIONS[precision]
