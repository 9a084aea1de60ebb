"""Choosing the device and the precision."""

from collections.abc import Callable
from time import sleep

import pytest
import torch

from mlworkers.science.pretrained.compute import (
    ComputeError,
    TooLittleMemory,
    choose_compute,
    halving,
    side_by_side,
)


def test_a_processor_in_float32_is_always_to_be_had() -> None:
    compute = choose_compute("cpu")

    assert (compute.device, compute.dtype) == (torch.device("cpu"), torch.float32)
    assert str(compute) == "cpu, float32"


def test_the_automatic_device_is_a_gpu_where_there_is_one() -> None:
    gpu = torch.cuda.is_available() or torch.backends.mps.is_available()

    compute = choose_compute("auto")

    assert (compute.device.type != "cpu") == gpu


def test_the_automatic_precision_of_a_processor_is_float32() -> None:
    assert choose_compute("cpu", "auto").dtype == torch.float32


@pytest.mark.parametrize(
    ("device", "precision", "reason"),
    [
        ("tpu", "float32", "no device 'tpu'"),
        ("cuda:x", "float32", "no device 'cuda:x'"),
        ("cuda:99", "float32", "This machine has no device 'cuda:99'"),
        ("cpu", "float8", "no precision 'float8'; use auto, float32, bfloat16, float16"),
        ("cpu", "float16", "use float32 or bfloat16"),
    ],
)
def test_what_is_not_to_be_had_is_refused_with_what_is(device, precision, reason) -> None:
    with pytest.raises(ComputeError, match=reason):
        choose_compute(device, precision)


def test_results_come_in_the_order_of_their_tasks() -> None:
    def slow_at_first(task: int) -> int:
        sleep(0.05 if task == 0 else 0)
        return task * task

    results = side_by_side(slow_at_first, range(6), workers=3)

    assert list(results) == [0, 1, 4, 9, 16, 25]


def test_each_worker_computes_on_one_core_and_torch_gets_its_cores_back() -> None:
    before = torch.get_num_threads()

    used = set(side_by_side(lambda _: torch.get_num_threads(), range(4), workers=2))

    assert (used, torch.get_num_threads()) == ({1}, before)


def test_tasks_are_taken_as_workers_come_free() -> None:
    taken: list[int] = []
    tasks = (taken.append(task) or task for task in range(100))

    first = next(side_by_side(lambda task: task, tasks, workers=2))

    assert (first, len(taken)) == (0, 3)


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(lambda task: 1 / task, [1, 0], workers=2))


OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB."),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory"),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes."),
    MemoryError(),
]


def fitting(most: int, error: Exception) -> Callable[[int], int]:
    """Work for which at most so many rows fit."""

    def work(rows: int) -> int:
        if rows > most:
            raise error
        return rows * 100

    return work


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=["gpu", "processor", "torch on Windows", "Python"])
def test_where_memory_runs_short_the_batch_halves_and_says_so(error: Exception) -> None:
    said: list[str] = []

    result, rows = halving(fitting(3, error), 16, said.append)

    assert (result, rows) == (200, 2)
    assert said == [f"Memory ran short: going on with {count} rows at a time" for count in (8, 4, 2)]


def test_a_batch_that_fits_is_done_once_and_nothing_is_said() -> None:
    said: list[str] = []

    assert halving(fitting(16, MemoryError()), 16, said.append) == (1600, 16)
    assert said == []


def test_where_one_row_is_too_many_one_sentence_says_what_to_do() -> None:
    with pytest.raises(
        TooLittleMemory, match=r"^Not even one row at a time fits .* device with more memory\.$"
    ):
        halving(fitting(0, MemoryError()), 16)


def test_another_error_is_not_taken_for_a_lack_of_memory() -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        halving(fitting(0, RuntimeError("shapes cannot be multiplied")), 16)


def test_a_tensor_that_no_memory_holds_is_recognised() -> None:
    with pytest.raises(TooLittleMemory):
        halving(lambda rows: torch.empty(rows * 10**14), 2)
