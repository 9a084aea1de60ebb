"""Tasks and the plan of pre-fine-tuning: metrics, medians, what is left out, and how tasks are named."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from mlworkers.plans.fields import PlanError
from mlworkers.science.encoders.measuring import Metric, decisions_measured
from mlworkers.science.encoders.pre_fine_tuning.files import task_read
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan, Row
from mlworkers.science.encoders.pre_fine_tuning.tasks import (
    TaskError,
    TaskNames,
    TaskRows,
    classes_in_order,
    decided,
    dev_drawn,
    dev_score,
    median_place,
    metrics_of,
    task_made,
)

LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1])
TAKEN = np.array([1, 0, 0, 1, 1, 0, 1, 0, 1, 0])


def planned(**given) -> PreFineTuningPlan:
    return PreFineTuningPlan(**{"dataset": "nli", "model": "packaged:x", "tasks": "sts | gold", **given})


def rows(first: str, values: list[float], second: str | None = "b") -> TaskRows:
    numbers = range(len(values))
    others = None if second is None else tuple(f"{second} {number}" for number in numbers)
    return TaskRows(tuple(f"{first} {number}" for number in numbers), others, np.array(values, dtype=float))


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [(Metric.MATTHEWS, matthews_corrcoef), (Metric.F1, f1_score), (Metric.ACCURACY, accuracy_score)],
)
def test_metrics_of_classes_are_those_of_scikit_learn(metric, theirs) -> None:
    measured = decisions_measured(metric, TAKEN, LABELS, resamples=200, seed=1)

    assert measured.value == pytest.approx(theirs(LABELS, TAKEN), abs=1e-12)
    assert measured.by_pair.mean() == pytest.approx(measured.value, abs=1e-12)
    assert measured.interval.low < measured.value < measured.interval.high


def test_matthews_correlation_of_a_hand_worked_table_and_of_one_class() -> None:
    # 3 true positives, 2 true negatives, 1 false positive, 2 false negatives: (3·2 - 1·2) / √(4·5·3·4) = 4 / √240.
    taken, labels = [1, 1, 1, 0, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1]

    assert decisions_measured(Metric.MATTHEWS, taken, labels, resamples=0, seed=0).value == pytest.approx(
        4 / 240**0.5
    )
    assert decisions_measured(Metric.MATTHEWS, [1] * 8, labels, resamples=0, seed=0).value is None


@pytest.mark.parametrize(
    ("name", "classes", "metrics"),
    [
        ("CoLA", ("0", "1"), (Metric.MATTHEWS,)),
        ("mrpc", ("0", "1"), (Metric.F1, Metric.ACCURACY)),
        ("QQP", ("no", "duplicate"), (Metric.F1, Metric.ACCURACY)),
        ("STS-B", (), (Metric.PEARSON, Metric.SPEARMAN)),
        ("mnli", ("a", "b", "c"), (Metric.ACCURACY,)),
        ("sst-2", ("0", "1"), (Metric.ACCURACY,)),
        ("mine", ("x", "y", "z"), (Metric.ACCURACY,)),
    ],
)
def test_each_task_of_glue_has_its_own_metrics(name, classes, metrics) -> None:
    assert metrics_of(TaskNames("", "", name), classes) == metrics
    assert metrics_of(TaskNames("pairs", "labels", name), classes) == metrics


def test_metrics_that_do_not_fit_the_classes_are_refused() -> None:
    with pytest.raises(TaskError, match="3 classes; the metrics of cola are for two"):
        metrics_of(TaskNames("", "", "cola"), ("a", "b", "c"))
    with pytest.raises(TaskError, match="call it one of 1, paraphrase, equivalent, duplicate"):
        metrics_of(TaskNames("", "", "mrpc"), ("yes", "no"))


def test_the_class_whose_f1_is_measured_has_the_number_1() -> None:
    assert classes_in_order(["paraphrase", "none", "none"]) == ("none", "paraphrase")
    assert classes_in_order(["1", "0"]) == ("0", "1")
    assert classes_in_order(["equivalent", "not_equivalent"]) == ("not_equivalent", "equivalent")


@pytest.mark.parametrize(
    ("scores", "place"),
    [
        ([0.3, 0.1, 0.2], 2),
        ([0.4, 0.1, 0.3, 0.2], 3),
        ([0.5], 0),
        ([0.2, None, 0.4], 0),
        ([0.2, 0.2, 0.2], 1),
    ],
)
def test_the_median_of_an_even_number_of_seeds_is_the_lower_one(scores, place) -> None:
    assert median_place(scores) == place


def test_rows_that_share_a_sentence_are_on_one_side() -> None:
    train = rows("t", [0.1 * number for number in range(10)])
    dev = TaskRows(("T 0.", "d 1", "d 2", "d 3"), ("x", "b 1", "z", "w"), np.array([0.1, 0.2, 0.3, 0.4]))
    test = TaskRows(("d 2", "u", "v", "seen"), ("p", "q", "r", "s"), np.array([0.1, 0.2, 0.3, 0.9]))

    task = task_made(TaskNames("a", "b", ""), classes=(), train=train, dev=dev, test=test, seen={"seen"})

    assert task.test.first == ("d 2", "u", "v")  # “seen” was trained on before
    assert task.dev.first == ("T 0.", "d 1", "d 3")  # “d 2” is tested
    assert task.train.first == tuple(f"t {number}" for number in range(2, 10))  # a near copy of t 0, and b 1
    assert (task.left_out, task.seen) == (2, 1)


def test_a_part_without_rows_or_with_one_label_is_refused() -> None:
    train, few = rows("t", [0.1 * number for number in range(10)]), rows("d", [0.1, 0.2], "c")
    same = rows("e", [0.5] * 4, "f")

    with pytest.raises(TaskError, match="has 2 dev rows"):
        task_made(TaskNames("a", "b", ""), classes=(), train=train, dev=few, test=rows("u", [1, 2, 3], "g"))
    with pytest.raises(TaskError, match="All test rows of a, b have the same score"):
        task_made(TaskNames("a", "b", ""), classes=(), train=train, dev=rows("u", [1, 2, 3], "g"), test=same)


def test_dev_rows_that_are_drawn_share_no_first_sentence_with_the_others() -> None:
    first = tuple(f"premise {number // 3}" for number in range(60))
    drawn_from = TaskRows(first, None, np.arange(60.0))

    train, dev = dev_drawn(drawn_from, 0.2, seed=3)

    assert len(dev) == 12
    assert not set(train.first) & set(dev.first)
    assert sorted([*train.values, *dev.values]) == list(range(60))


def test_classes_are_decided_by_the_largest_value_and_dev_scores_are_means_of_metrics() -> None:
    names = TaskNames("", "", "mrpc")
    labelled = rows("t", [0, 1] * 5)
    task = task_made(
        names,
        classes=("0", "1"),
        train=labelled,
        dev=rows("d", [1, 0, 1, 0], "e"),
        test=rows("u", [1, 0, 1], "g"),
    )

    found = decided(task, np.array([[0.0, 2.0], [3.0, 1.0], [1.0, 0.5], [0.0, -1.0]]))

    assert found.tolist() == [1, 0, 0, 0]
    assert dev_score(task, found) == pytest.approx((2 / 3 + 3 / 4) / 2)  # F1 and accuracy


def test_epochs_follow_the_number_of_training_rows_as_in_the_paper() -> None:
    plan = planned()

    assert (plan.epochs_on(10_000), plan.epochs_on(10_001)) == (10, 3)
    assert planned(epochs=4).epochs_on(20_000) == 4
    assert len(plan.all_variants) == 9
    assert plan.rows[:3] == (Row("no pre-fine-tuning"), Row("original"), Row("SIM70 BLEU0_5"))


def test_batches_hold_rows_of_like_length_so_that_little_is_padding() -> None:
    plan = planned(batch_size=16)
    lengths = np.random.default_rng(1).permutation(np.repeat([10, 20, 60, 100], 80))

    schedule = plan.schedule(lengths.tolist(), epochs=2, seed=3)

    assert schedule.steps == plan.steps(len(lengths), epochs=2) == 40
    for epoch in range(2):
        batches = [schedule.batch(epoch * 20 + step) for step in range(20)]
        assert sorted(np.concatenate(batches).tolist()) == list(range(320))
        assert sum(len(batch) * lengths[batch].max() for batch in batches) < 1.2 * lengths.sum()


def test_fine_tunings_take_the_pre_fine_tunings_in_turn() -> None:
    plan = planned(seeds=5, pre_seeds=2)

    assert [plan.pre_seed_of(seed) for seed in plan.all_seeds] == [42, 43, 42, 43, 42]


def test_tasks_are_named_by_a_dataset_and_its_labels_or_by_a_folder() -> None:
    plan = planned(tasks="cola; pairs | subset | mrpc ;nli | subset; sts | run 2: target")

    assert plan.all_tasks == (
        TaskNames("", "", "cola"),
        TaskNames("pairs", "subset", "mrpc"),
        TaskNames("nli", "subset", ""),
        TaskNames("sts", "run 2: target", ""),
    )
    assert [plan.is_inference(task) for task in plan.all_tasks] == [False, False, True, False]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"tasks": " ; "}, "“tasks” is empty"),
        ({"tasks": "a | b | c | d"}, "give a folder, or dataset | labels"),
        ({"tasks": "sts | gold; sts|gold"}, "The task “sts, gold” is named twice"),
        ({"tasks": "WNLI"}, "WNLI is not a task here"),
        ({"variants": "original"}, "the row without paraphrases"),
        ({"similarity": "x"}, "Tags need both"),
        ({"bootstrap": 5}, "5 resamples are too few"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(given, sentence) -> None:
    with pytest.raises(PlanError, match=sentence.replace("|", r"\|")):
        planned(**given)


FILES = {
    "mrpc": "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n{label}\t1\t2\tfirst {n}\tsecond {n}\n",
    "qqp": "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t1\t2\tfirst {n}\tsecond {n}\t{label}\n",
    "qnli": "index\tquestion\tsentence\tlabel\n1\tfirst {n}\tsecond {n}\t{label}\n",
    "rte": "index\tsentence1\tsentence2\tlabel\n1\tfirst {n}\tsecond {n}\t{label}\n",
    "sst-2": "sentence\tlabel\nfirst {n}\t{label}\n",
}


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_glue_are_read(tmp_path, name) -> None:
    folder = tmp_path / name
    folder.mkdir()
    header, line, _end = FILES[name].split("\n")
    for part, start, many in (("train", 0, 40), ("dev", 100, 10)):
        lines = [line.format(n=start + number, label=number % 2) for number in range(many)]
        (folder / f"{part}.tsv").write_text("\n".join([header, *lines]) + "\n")

    read = task_read(TaskNames("", "", name), tmp_path, dev_share=0.25, seed=1)

    assert read.task.classes == ("0", "1")
    assert (len(read.task.train), len(read.task.dev), len(read.task.test)) == (30, 10, 10)
    assert read.task.test.first[3] == "first 103"
    assert (read.task.test.second is None) == (name == "sst-2")
    assert read.task.test.values.tolist() == [0, 1] * 5
    assert [file for file, _sum in read.files] == ["train.tsv", "dev.tsv"]


def test_files_with_a_header_of_ones_own_are_read_and_scores_are_brought_to_0_to_1(tmp_path) -> None:
    (tmp_path / "mine").mkdir()
    for part, many in (("train", 12), ("dev", 6), ("test", 6)):
        lines = [f'"{part} {number}, first","{part} {number}",{number % 6 - 1}' for number in range(many)]
        (tmp_path / "mine" / f"{part}.csv").write_text("\n".join(["sentence1,sentence2,score", *lines]))

    read = task_read(TaskNames("", "", "mine"), tmp_path, dev_share=0.1, seed=1)

    assert read.task.test.first[0] == "test 0, first"
    assert read.task.test.values.tolist() == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert read.task.metrics == (Metric.PEARSON, Metric.SPEARMAN)


def test_scores_of_dev_and_test_rows_do_not_move_the_scale_of_training_rows(tmp_path) -> None:
    (tmp_path / "mine").mkdir()
    for part, values in (("train", [1, 2, 5] * 4), ("dev", [0, 2, 4] * 2), ("test", [1, 3, 9] * 2)):
        lines = [f"{part} {number},{value}" for number, value in enumerate(values)]
        (tmp_path / "mine" / f"{part}.csv").write_text("\n".join(["sentence,score", *lines]))

    task = task_read(TaskNames("", "", "mine"), tmp_path, dev_share=0.1, seed=1).task

    # (score - 1) / (5 - 1): 1 and 5 are the extremes of the training rows.
    assert task.train.values.tolist() == [0.0, 0.25, 1.0] * 4
    assert task.dev.values.tolist() == [-0.25, 0.25, 0.75] * 2
    assert task.test.values.tolist() == [0.0, 0.5, 2.0] * 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sentence1\tlabel\na\t1", "has no columns of sentences that are known"),
        ("sentence\tlabel\na\t1\tx", "line 2: 3 cells where 2 are expected"),
        ("sentence\tscore\na\tmany", "line 2:"),
        ("sentence\tlabel\n\t1", "line 2: a sentence is empty"),
        ("sentence\tother\na\t1", "has no train rows with labels"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_line(tmp_path, text, sentence) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.tsv").write_text(text)

    with pytest.raises(TaskError, match=sentence):
        task_read(TaskNames("", "", "mine"), tmp_path, dev_share=0.1, seed=1)
