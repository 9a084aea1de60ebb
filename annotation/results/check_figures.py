#!/usr/bin/env python3
"""Compute the figures of a campaign's bundle again, with numpy and scipy alone, and compare them with its files.

usage: python check_figures.py [FOLDER] [--methods METHODS.md] [--seed 1]

FOLDER is that of the bundle, here if it is not given. --methods: a methods section that describes the campaign.
Nothing of Semblance is used: this is written from the formulas. Each line of the output is a group of numbers, compared
    exact      counts and closed formulas: a relative difference of 1e-9 is rounding
    fit        the maximum that a search finds: scores to 1e-6
    rounds     the nearest normal distribution, whose search ends with moves of 1e-4: to .0005
    prior      what follows from a search that ends at .005 of the log of the prior's precision: to .002
    resampled  means over random halves and samples: others are drawn here, and may differ by three standard errors of
               that chance. If they differ by more, four times as many are drawn before the number is called wrong.

Exit status: 0 if nothing differs, 1 if something does.
"""
# fmt: off
# Strangers should read it in one sitting: at most 600 lines, so it is set more closely than the rest of the code.

import argparse
import csv
import hashlib
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[Any]
Whole: TypeAlias = NDArray[Any]
Flags: TypeAlias = NDArray[Any]

EXACT, FIT, ROUNDS, PRIOR = 1e-9, 1e-6, 5e-4, 2e-3
MOST_PAIRED = 3_000  # items of which all pairs are tested, and whose covariances the errors of MaxDiff use
MOST_INVERTED = 8_000  # items whose covariance matrix is computed here
MOST_SEARCHED = 1_500  # items for which the prior's precision is searched again
RESAMPLES, PARTS = 200, 100  # behind each interval and each point of the curve, as Semblance draws them

class Report:
    def __init__(self) -> None:
        self.rows = [("where", "numbers", "compared", "difference", "result")]

    def add(self, where: str, how: str, stated: Iterable[Any], found: Iterable[Any], allowed: Any) -> None:
        """Compare numbers, or values that are equal or not. allowed: for all or for each; relative where exact."""
        pairs, worst, wrong = list(zip(stated, found, strict=True)), 0.0, ""
        limits = [allowed] * len(pairs) if isinstance(allowed, float) else allowed
        for (one, two), limit in zip(pairs, limits, strict=True):
            known = all(isinstance(each, int | float | np.number) and not math.isnan(each) for each in (one, two))
            away = abs(one - two) / (max(1.0, abs(one)) if how == "exact" else 1.0) if known else 0.0
            same = away <= limit if known else one == two or str(one) == str(two)  # nan is nan
            worst, wrong = max(worst, away), wrong or ("" if same else f"DIFFERS: {one} is stated, {two} found")
        self.rows.append((where, str(len(pairs)), how, f"{worst:.1g}", wrong or "as stated"))

    def exact(self, where: str, stated: Iterable[Any], found: Iterable[Any]) -> None:
        self.add(where, "exact", stated, found, EXACT)

    def skip(self, where: str, why: str) -> None:
        self.rows.append((where, "", "", "", f"not computed: {why}"))

    def print(self) -> int:
        widths = [max(len(row[column]) for row in self.rows) for column in range(4)]
        for row in self.rows:
            print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, [*widths, 0], strict=True)).rstrip())
        wrong = sum(row[4].startswith("DIFFERS") for row in self.rows)
        numbers = sum(int(row[1] or 0) for row in self.rows[1:])
        print(f"\n{numbers:,} numbers were compared. Lines of the list that differ: {wrong}.")
        return int(wrong > 0)

@dataclass(frozen=True)
class Judged:
    """n judgements of tuples of at most k of m items. items: (n, k), -1 where a tuple is smaller. best, worst: (n,), -1
    for “too close to call”. people: (n,), -1 where nobody knows. tuples: (n,), equal for the same set of items.
    """

    names: list[str]
    items: Whole
    best: Whole
    worst: Whole
    people: Whole
    tuples: Whole

    @property
    def cells(self) -> tuple[Whole, Whole]:
        """Row and item of each appearance (o,)."""
        row, place = np.nonzero(self.items >= 0)
        return row, self.items[row, place]

def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))

def tuples_in(folder: Path) -> list[list[str]]:
    return [line.split("\t") for line in (folder / "tuples.tsv").read_text(encoding="utf-8").splitlines()]

def judged_in(path: Path) -> Judged:
    """Items are numbered as the file names them first: the points of `MaxDiff.expand` depend on their order."""
    rows, number, codes = table(path), dict[str, int](), dict[str, int]()
    columns = [name for name in rows[0] if re.fullmatch(r"Item\d+", name)]
    items = [[number.setdefault(row[name], len(number)) if row[name] else -1 for name in columns] for row in rows]
    best, worst = ([number.get(row[name], -1) for row in rows] for name in ("BestItem", "WorstItem"))
    people = [codes.setdefault(code, len(codes)) if (code := row.get("Annotator")) else -1 for row in rows]
    sets = dict[frozenset[int], int]()
    tuples = [sets.setdefault(frozenset(row) - {-1}, len(sets)) for row in items]
    return Judged(list(number), *(np.array(each, dtype=np.int64) for each in (items, best, worst, people, tuples)))

# Counting

def counted(judged: Judged) -> list[Whole]:
    """Of each item: appearances, times best, times worst."""
    every = (judged.items, judged.best, judged.worst)
    return [np.bincount(each[each >= 0], minlength=len(judged.names)) for each in every]

def counting(judged: Judged) -> tuple[Floats, Floats]:
    """(best - worst) / appearances (Orme 2009), and its standard error.

    The error is that of independent outcomes 1, 0, -1, each counted once more than it was seen (Laplace), times the
    root of the design effect 1 + (s - 1) r (Kish 1965). r: how alike the outcomes of one item in one tuple are, by an
    analysis of variance (Donner 1986). s: the number of outcomes in a cell of item and tuple, as an outcome sees it.
    """
    shown, best, worst = counted(judged)
    seen = shown + 3
    alone = np.sqrt(((best + worst + 2) / seen - ((best - worst) / seen) ** 2) / shown)
    cells: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])  # of item, tuple: n, sum of x, of x²
    for row, item in zip(*judged.cells, strict=True):
        cells[item, judged.tuples[row]][0] += 1
    for chosen, x in ((judged.best, 1), (judged.worst, -1)):
        for row in np.flatnonzero(chosen >= 0):
            cell = cells[chosen[row], judged.tuples[row]]
            cell[1:] = cell[1] + x, cell[2] + 1
    number, total, square = np.array(list(cells.values()), dtype=float).T
    item = [key[0] for key in cells]
    n, t = np.bincount(item, number), np.bincount(item, total)
    s = np.bincount(item, number**2) / n
    between, within = len(cells) - len(n), number.sum() - len(cells)
    effect: Any = 1.0
    if between and within:
        of_cells = (total**2 / number).sum()
        msb, msw = (of_cells - (t**2 / n).sum()) / between, (square.sum() - of_cells) / within
        spread = msb + ((number.sum() - s.sum()) / between - 1) * msw
        effect = 1 + (np.maximum(s, 1) - 1) * (min(1, max(0, (msb - msw) / spread)) if spread > 0 else 0)
    return (best - worst) / shown, alone * np.sqrt(effect)

def shares(scores: Floats, variances: Floats, alike: Floats) -> dict[str, float]:
    """Which pairs of items differ: at 95 %, by Holm, by Benjamini and Hochberg. variances: (m, m), of differences."""
    one, two = np.triu_indices(len(scores), 1)
    p = np.sort(2 * scipy.stats.norm.sf(np.abs(scores[one] - scores[two]) / np.sqrt(variances[one, two])))
    rank, pairs = np.arange(1, len(p) + 1), len(p)
    refused = np.flatnonzero(p > 0.05 / (pairs - rank + 1))
    kept = np.flatnonzero(p <= 0.05 * rank / pairs)
    return {
        "distinguishable": float((p < 0.05).mean()),
        "distinguishable_holm": float((refused[0] if len(refused) else pairs) / pairs),
        "distinguishable_fdr": float((kept[-1] + 1 if len(kept) else 0) / pairs),
        "tied": float((np.abs(alike[one] - alike[two]) < 5e-10).mean()),
    }

def tie_groups(scores: Floats, errors: Floats) -> list[str]:
    """Which runs of items that do not differ at 95 % hold each item, as the files write it."""
    count, order = len(scores), np.lexsort((errors, -scores))
    score, margin = scores[order], scipy.stats.norm.ppf(0.975) * errors[order]
    ends, last = np.empty(count, dtype=np.int64), count - 1
    for rank in range(count - 1, -1, -1):
        after = slice(rank + 1, last + 1)
        differ = score[rank] - score[after] > np.hypot(margin[rank], margin[after])
        last = rank + int(np.argmax(differ)) if differ.any() else last
        ends[rank] = last
    begins = np.flatnonzero(np.diff(ends, prepend=-1) > 0)
    first = np.searchsorted(ends[begins], np.arange(count)) + 1
    until = np.searchsorted(begins, np.arange(count), side="right")
    cells = np.empty(count, dtype=object)
    cells[order] = [f"{a}" if a == b else f"{a}..{b}" for a, b in zip(first, until, strict=True)]
    return cells.tolist()

# Models

def mode(value: Callable[..., float], expand: Callable[..., Any], precision: float, mean: Floats) -> list[Floats]:
    """The most likely utilities under N(mean, 1 / precision), by Newton's method, and their precision matrix."""
    u = mean.copy()

    def height(at: Floats) -> float:
        return value(at) - precision / 2 * float(((at - mean) ** 2).sum())

    while True:
        gradient, curvature = expand(u)
        whole = curvature + precision * np.eye(len(u))
        step = scipy.linalg.solve(whole, gradient - precision * (u - mean), assume_a="pos")
        while height(u + step) < height(u) - 1e-9 * max(1, abs(height(u))):
            step = step / 2
        u = u + step
        if np.abs(step).max() < 1e-9:
            return [u, whole]

def bradley_terry(judged: Judged, precision: float) -> Floats:
    """The utilities from the comparisons that judgements imply: the best over all, all others over the worst."""
    won = np.zeros((len(judged.names),) * 2)
    for shown, best, worst in zip(judged.items, judged.best, judged.worst, strict=True):
        if best != worst:
            np.add.at(won, (best, shown[(shown >= 0) & (shown != best)]), 1)
            np.add.at(won, (shown[(shown >= 0) & (shown != best) & (shown != worst)], worst), 1)

    def value(u: Floats) -> float:
        return -float((won * np.logaddexp(0, u - u[:, None])).sum())

    def expand(u: Floats) -> list[Floats]:
        chance = scipy.special.expit(u - u[:, None])  # that the winner had of losing
        lost, bend = won * chance, won * chance * (1 - chance)
        bend = bend + bend.T
        return [lost.sum(1) - lost.sum(0), np.diag(bend.sum(1)) - bend]

    return mode(value, expand, precision, np.zeros(len(won)))[0]

class MaxDiff:
    """P(best a, worst b) = exp(u_a - u_b) / (W + v K) over the K ordered pairs of a tuple's items (Marley and Louviere
    2005), and v K / (W + v K) for “too close to call” (Davidson 1970), with the weight v.
    """

    def __init__(self, judged: Judged, weight: float = 0.0) -> None:
        kept = np.flatnonzero((judged.best != judged.worst) | (judged.best < 0))
        times = Counter(tuple(sorted(row)) for row in judged.items[kept].tolist())
        rows = np.array(list(times))  # (T, k)
        self.weight, self.size, self.times = weight, len(judged.names), np.array(list(times.values()), dtype=float)
        self.present = rows >= 0
        self.sets = np.where(self.present, rows, rows[:, -1:])
        best, worst = (each[kept][each[kept] >= 0] for each in (judged.best, judged.worst))
        self.net = np.bincount(best, minlength=self.size) - np.bincount(worst, minlength=self.size).astype(float)
        self.pairs = [(a, b) for a in range(rows.shape[1]) for b in range(rows.shape[1]) if a != b]

    def chances(self, values: Floats) -> tuple[Floats, Floats]:
        """Of each ordered pair of places (T, pairs), at utilities (T, k), and the log of W + v K (T,)."""
        one, two = np.array(self.pairs).T
        logs = np.where(self.present[:, one] & self.present[:, two], values[:, one] - values[:, two], -np.inf)
        total, count = scipy.special.logsumexp(logs, axis=1), self.present.sum(1)
        if self.weight:
            total = np.logaddexp(total, np.log(self.weight * count * (count - 1)))
        return np.exp(logs - total[:, None]), total

    def value(self, u: Floats) -> float:
        """The log-likelihood, without what no utility changes."""
        return float(self.net @ u - self.times @ self.chances(u[self.sets])[1])

    def moments(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean (T, k) and covariance (T, k, k) of a choice: 1 at the best, -1 at the worst, else 0."""
        mean, second = np.zeros(values.shape), np.zeros((*values.shape, values.shape[1]))
        for (a, b), p in zip(self.pairs, self.chances(values)[0].T, strict=True):
            for place, other, x in ((a, b, 1), (b, a, -1)):
                mean[:, place] += x * p
                second[:, place, place] += p
                second[:, place, other] -= p
        return mean, second - mean[:, :, None] * mean[:, None, :]

    def expand(self, u: Floats, covariance: Floats | None = None) -> tuple[Floats, Floats]:
        """Gradient (m,) and curvature (m, m) of the log-likelihood at u, or their average over N(u, covariance): at 2 k
        points of each set, which have the mean and covariance of its items (Arasaratnam and Haykin 2009).
        """
        values, k = [u[self.sets]], self.sets.shape[1]
        if covariance is not None:
            blocks = covariance[self.sets[:, :, None], self.sets[:, None, :]]
            blocks[:, range(k), range(k)] *= 1 + 1e-9  # an item at two places
            root = np.sqrt(k) * np.linalg.cholesky(blocks)
            values = [values[0] + sign * root[:, :, column] for column in range(k) for sign in (1, -1)]
        mean, second = (np.mean(each, axis=0) for each in zip(*map(self.moments, values), strict=True))
        expected = np.bincount(self.sets.ravel(), (mean * self.times[:, None]).ravel(), self.size)
        cell = (self.sets[:, :, None] * self.size + self.sets[:, None, :]).ravel()
        curvature = np.bincount(cell, (second * self.times[:, None, None]).ravel(), self.size**2)
        return self.net - expected, curvature.reshape(self.size, self.size)

    def mode(self, precision: float, mean: Floats | None = None) -> list[Floats]:
        return mode(self.value, self.expand, precision, np.zeros(self.size) if mean is None else mean)

    def nearest_normal(self, precision: float, mean: Floats) -> tuple[Floats, Floats, float, Floats]:
        """The normal distribution nearest to the posterior (Opper and Archambeau 2009), and the prior's precision l.

        C^-1 = E[curvature] + l I and E[gradient] = l (u - mean) over N(u, C). l is where the marginal likelihood times
        the density s exp(-s) of s = 1 / sqrt(l) is highest. Returns u, C, l, and the direction in which all utilities
        may be off because l is not known (Kass and Steffey 1989).
        """
        u, around = self.mode(precision, mean)
        for turn in range(500):
            covariance, away, half, sd = np.linalg.inv(around), u - mean, precision / 2, precision**-0.5
            known = half * (away @ away + np.trace(covariance))
            missing = 2 * half**2 * ((covariance**2).sum() + 2 * away @ covariance @ away)
            information = max(known - missing + sd / 4, 0.5)
            moved = float(np.clip((len(u) / 2 - known + (sd - 1) / 2) / information, -1, 1))
            share = 1.0 if turn < 20 else 0.25  # so that nothing swings without an end
            precision *= math.exp(share * moved)
            gradient, curvature = self.expand(u, covariance)
            around = share * (curvature + precision * np.eye(len(u))) + (1 - share) * around
            step = np.linalg.solve(around, gradient - precision * away)
            u = u + step / max(1.0, np.abs(step).max())
            if max(np.abs(step).max(), abs(moved)) < 1e-9:
                break
        return u, covariance, precision, -precision * covariance @ (u - mean) / math.sqrt(information)

    def likely_precision(self) -> float:
        """The prior's precision with the highest Laplace evidence (MacKay 1992) times the density s exp(-s)."""

        def loss(log: float) -> float:
            u, whole = self.mode(math.exp(log))
            height = self.value(u) - math.exp(log) / 2 * float(u @ u) - log / 2 - math.exp(-log / 2)
            return float(-height - (len(u) * log - np.linalg.slogdet(whole)[1]) / 2)

        found = scipy.optimize.minimize_scalar(loss, bounds=(-7, 8), method="bounded", options={"xatol": 1e-4})
        return float(np.exp(found.x))

# Reliability

def components(judged: Judged) -> dict[str, float | None]:
    """Variances of the outcomes 1, 0, -1, by symmetric sums (Koch 1967): products of outcomes that share something."""
    row, item = judged.cells
    places = [(judged.items == chosen[:, None]) & (chosen >= 0)[:, None] for chosen in (judged.best, judged.worst)]
    x = np.subtract(*(each / np.maximum(1, each.sum(1))[:, None] for each in places))[judged.items >= 0]
    people = np.where(judged.people < 0, -1 - np.arange(len(judged.people)), judged.people)
    columns = {"i": item, "t": judged.tuples[row], "p": people[row], "r": row}
    shared = {name: [columns[each] for each in name] or [0 * row] for name in ["", "r", "i", "ir", "it", "ip", "itp"]}
    group = {name: np.unique(rows, axis=1, return_inverse=True)[1].ravel() for name, rows in shared.items()}

    def product(**signs: int) -> float | None:
        """The mean product of the pairs that are equal in these columns, added or taken away."""
        named = {name.strip("_"): sign for name, sign in signs.items()}
        total = sum(sign * (np.bincount(group[name], x) ** 2).sum() for name, sign in named.items())
        pairs = sum(sign * (np.bincount(group[name]).astype(float) ** 2).sum() for name, sign in named.items())
        return float(total / pairs) if pairs > 0 else None

    apart, same = product(_=1, r=-1, i=-1, ir=1) or 0.0, product(i=1, it=-1, ip=-1, itp=1) or 0.0
    by_tuple, by_person = product(it=1, itp=-1), product(ip=1, itp=-1)
    of_item = max(0.0, same - apart)
    of_tuple, of_person = (None if each is None else max(0.0, each - same) for each in (by_tuple, by_person))
    parts = {"it": of_tuple or 0.0, "ip": of_person or 0.0}
    parts["ir"] = max(0.0, float((x**2).mean()) - apart - of_item - sum(parts.values()))
    error = np.zeros(item.max() + 1)
    for name, variance in parts.items():  # an effect that outcomes share does not average out
        first = np.unique(group[name], return_index=True)[1]
        error += variance * np.bincount(item[first], np.bincount(group[name]) ** 2.0) / np.bincount(item) ** 2
    one, sem2 = sum(parts.values()), float(error.mean())
    icc, score_icc = (of_item / whole if (whole := of_item + each) else None for each in (one, sem2))
    return {
        "item": of_item, "tuple": of_tuple, "annotator": of_person, "residual": parts["ir"], "icc": icc,
        "score_icc": score_icc, "sem": math.sqrt(sem2), "effective_judgements": float((one / error).mean()),
    }  # fmt: skip

class Halves:
    """Counting scores of random halves of judgements, and how they correlate."""

    def __init__(self, judged: Judged, seed: int) -> None:
        self.judged, self.rng = judged, np.random.default_rng(seed)
        self.row, self.item = judged.cells
        self.chosen = np.flatnonzero(judged.best >= 0)
        self.sizes = np.bincount(judged.tuples)

    def scores(self, weights: Floats | Flags) -> tuple[Floats, Flags]:
        """Scores (m,), 0 without an appearance, and which items appear."""
        m, j = len(self.judged.names), self.chosen
        shown = np.bincount(self.item, weights[self.row], m)
        net = np.bincount(self.judged.best[j], weights[j], m) - np.bincount(self.judged.worst[j], weights[j], m)
        return np.round(net / np.maximum(shown, 1), 12), shown > 0

    def places(self) -> Whole:
        """The place of each judgement in a random order of its tuple's."""
        order = np.lexsort((self.rng.random(len(self.judged.tuples)), self.judged.tuples))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        return place

    def first(self, split: str) -> Flags:
        """Which judgements are in the first half; an odd one of a tuple, or an odd unit, is there by chance."""
        if split == "judgements":
            half = self.sizes // 2 + self.sizes % 2 * self.rng.integers(0, 2, len(self.sizes))
            return self.places() < half[self.judged.tuples]
        units = self.judged.tuples if split == "tuples" else self.judged.people
        count = int(units.max()) + 1
        return self.rng.permutation(count)[units] < count // 2 + count % 2 * self.rng.integers(0, 2)

    def agreement(self, first: Flags, weights: Floats) -> tuple[float, float]:
        """Spearman and Pearson over the items that the first half saw."""
        (one, seen), (two, _) = self.scores(weights * first), self.scores(weights * ~first)
        if len(set(one[seen])) < 2 or len(set(two[seen])) < 2:
            return math.nan, math.nan
        return rank_correlation(one[seen], two[seen]), float(np.corrcoef(one[seen], two[seen])[0, 1])

    def draw(self, split: str) -> tuple[float, float]:
        return self.agreement(self.first(split), np.ones(len(self.judged.best)))

    def margin(self, split: str, resamples: int) -> tuple[float, float]:
        """1.96 standard deviations of Fisher's z, by resampled tuples or annotators, and the relative error of that."""
        found = []
        for units in (self.judged.tuples, self.judged.people):
            count = int(units.max()) + 1
            if units.min() < 0 or (units is self.judged.people and count < 3):
                continue
            drawn = np.empty((resamples, 2))
            for row in drawn:
                weights = np.bincount(self.rng.integers(0, count, count), minlength=count)[units].astype(float)
                row[:] = [self.agreement(self.first(split), weights)[0] for _ in range(2)]
            z = np.arctanh(np.clip(drawn[~np.isnan(drawn).any(1)], -0.999999, 0.999999))
            total, chance = z.mean(1).var(ddof=1), ((z[:, 0] - z[:, 1]) ** 2).mean() / 4
            net = total - chance if total > chance else total
            tail = scipy.stats.kurtosis(z.mean(1), fisher=False)
            found.append((1.96 * math.sqrt(net), total / net * math.sqrt(max(tail - 1, 1)) / 2))
        return max(found)

    def part(self, number: int) -> tuple[float, float]:
        """Of a random choice of so many judgements of each tuple: its halves, and its scores with those of all."""
        place, kept = self.places(), np.minimum(self.sizes, number)
        odd = self.rng.integers(0, 2, len(kept))
        chosen = (place < number).astype(float)
        (some, seen), (every, _) = self.scores(chosen), self.scores(np.ones(len(chosen)))
        first = place < (kept // 2 + kept % 2 * odd)[self.judged.tuples]
        halves = self.agreement(first, chosen)[0] if number > 1 else 0.0
        return halves, rank_correlation(some[seen], every[seen])

def rank_correlation(one: Floats, two: Floats) -> float:
    return float(np.corrcoef(scipy.stats.rankdata(one), scipy.stats.rankdata(two))[0, 1])

def resampled(report: Report, where: str, told: dict[str, Any], names: Sequence[str], draw: Any, before: int) -> None:
    """Means and standard deviations over `before` random draws, against those of others."""
    found: list[Sequence[float]] = []
    for count in (before, 4 * before):
        found += [draw() for _ in range(count)]
        here = np.array(found)
        mean, sd, chance = here.mean(0), here.std(0), 3 * math.sqrt(1 / before + 1 / len(found))
        tails = [scipy.stats.kurtosis(column, fisher=False) if column.std() > EXACT else 3.0 for column in here.T]
        allowed = [*(chance * sd + EXACT), *(chance * sd * np.sqrt(np.maximum(np.array(tails) - 1, 1)) / 2 + EXACT)]
        stated = [told[f"{name}_{figure}"] for figure in ("mean", "sd") for name in names]
        if all(abs(one - two) <= most for one, two, most in zip(stated, [*mean, *sd], allowed, strict=True)):
            break
    report.add(where, "resampled", stated, [*mean, *sd], allowed)

# The figures of the folder

def scores_check(report: Report, folder: Path, method: str, judged: Judged, stated: dict[str, Any]) -> None:
    """A file of scores, and what scores.json says of it."""
    place, where = {name: number for number, name in enumerate(judged.names)}, f"scores/{method}.csv"
    rows = table(folder / where)
    at, m = np.array([place[row["item"]] for row in rows]), len(place)
    report.exact(f"{where}: items, judgements", [stated["items"], stated["judgements"]], [m, len(judged.best)])
    counts = [[float(row[name]) for name in ("appearances", "best", "worst")] for row in rows]
    report.exact(f"{where}: counts", np.ravel(counts), np.ravel(np.transpose(counted(judged))[at]))
    told, errors = np.array([[float(row[name] or "nan") for name in ("score", "standard_error")] for row in rows]).T
    u, means, variances, how, allowed = None, stated.get("prior_means"), None, "fit", FIT
    if method != "counting" and m > MOST_INVERTED:
        report.skip(where, f"it has more than {MOST_INVERTED:,} items")
        return
    if method == "counting":
        (score, error), how, allowed = counting(judged), "exact", EXACT
        variances = error[:, None] ** 2 + error**2
    elif method == "bradley-terry":
        u, error = bradley_terry(judged, stated["prior_precision"]), np.full(m, np.nan)
    else:
        model, mean = MaxDiff(judged, stated["tie_weight"]), np.zeros(m)
        if means:
            group = {row["item"]: row["group"] for row in table(folder / "groups.csv")}
            mean = np.array([means[group[name]] for name in judged.names])
        if stated["standard_errors"] == "variational":
            u, covariance, precision, shared = model.nearest_normal(stated["prior_precision"], mean)
            covariance, how, allowed = covariance + np.outer(shared, shared), "rounds", ROUNDS
            change = [math.log(precision / stated["prior_precision"])]
            report.add(f"{where}: log of the prior's precision", how, [0.0], change, ROUNDS)
        else:
            u, whole = model.mode(stated["prior_precision"], mean)
            covariance = np.linalg.inv(whole)
        centred = covariance - covariance.mean(0) - covariance.mean(0)[:, None] + covariance.mean()
        error = np.sqrt(np.diagonal(centred))
        variances = error[:, None] ** 2 + error**2 - 2 * centred
    if u is not None:
        unit = scipy.special.expit(u)
        score, error = 2 * unit - 1, 2 * unit * (1 - unit) * error
    report.add(f"{where}: scores", how, told, score[at], allowed)
    if means:
        report.skip(f"{where}: standard errors", "the prior means of groups are taken as they are stated")
        return
    report.add(f"{where}: standard errors", how, errors, error[at], allowed)
    if not np.isnan(errors).any():
        report.exact(f"{where}: groups", [row["group"] for row in rows], tie_groups(told, errors))
    if variances is not None and m <= MOST_PAIRED:
        found = shares(score if u is None else u, variances, score)
        near = EXACT if u is None else 3 / len(at)  # a pair on the edge may fall to either side
        report.add("scores/scores.json: " + method, how, [stated[name] for name in found], found.values(), near)

def reliability_check(report: Report, folder: Path, judged: Judged, seed: int) -> None:
    stated, halves = loaded(folder / "reliability.json"), Halves(judged, seed)
    for split in ("judgements", "tuples", "annotators"):
        told, where = stated[split], f"reliability.json: {split}"
        if "none" in told:
            report.skip(where, told["none"])
            continue
        report.exact(f"{where}, counts", [told["judgements"], told["tuples"]], [len(judged.best), len(halves.sizes)])
        resampled(report, where, told, ("spearman", "pearson"), partial(halves.draw, split), told["trials"])
        mean = told["spearman_mean"]
        stepped_up = 2 * mean / (1 + mean) if mean > 0 else mean
        report.exact(f"{where}, Spearman-Brown", [told["spearman_brown"]], [stepped_up])
        ends = np.arctanh([told["spearman_low"], told["spearman_high"]]) - np.arctanh(mean)
        for size in (RESAMPLES, 4 * RESAMPLES):
            margin, error = halves.margin(split, size)
            allowed = 3 * margin * error * math.sqrt(1 / RESAMPLES + 1 / size)
            if np.abs(np.abs(ends) - margin).max() <= allowed:
                break
        report.add(f"{where}, 95 % interval (Fisher's z)", "resampled", ends, [-margin, margin], allowed)
    if stated["components"]:
        found = components(judged)
        report.exact("reliability.json: components", [stated["components"][name] for name in found], found.values())
    for point in stated["curve"]:
        names = [name for name in ("spearman", "agreement") if point[f"{name}_mean"] is not None]
        number, after = point["judgements_per_tuple"], 2 - len(names)
        draw = partial(lambda number, after: halves.part(number)[after:], number, after)
        resampled(report, f"reliability.json: curve at {number}", point, names, draw, PARTS)
    if len(judged.names) > MOST_SEARCHED or (judged.best < 0).any():
        report.skip("reliability.json: marginal", f"there are ties, or more than {MOST_SEARCHED:,} items")
        return
    model = MaxDiff(judged)
    precision = model.likely_precision()
    u, whole = model.mode(precision)
    uncertain = float(np.diagonal(np.linalg.inv(whole)).mean()) - 1 / (precision * len(u))
    share = float(u.var() / (u.var() + uncertain))
    report.add("reliability.json: marginal", "prior", [stated["marginal_reliability"]], [share], PRIOR)
    if (known := len(u) * share**2 / 2) >= 50:  # else the ends are those of a profile
        ends = [share / (share + (1 - share) * math.exp(sign * 1.96 / math.sqrt(known))) for sign in (1, -1)]
        told = [stated[f"marginal_reliability_{end}"] for end in ("low", "high")]
        report.add("reliability.json: marginal, 95 % interval", "prior", told, ends, PRIOR)

def design_check(report: Report, folder: Path, judged: Judged) -> None:
    """Tuples, annotators and repeats, by counting; and the SHA-256 of every file."""
    tuples, stated = tuples_in(folder), loaded(folder / "design.json")["certificate"]
    if stated.get("tuples") == len(tuples):
        shown = Counter(item for row in tuples for item in row)
        met = Counter(pair for row in tuples for pair in combinations(sorted(set(row)), 2))
        meetings = Counter(met.values())
        meetings[0] = math.comb(len(shown), 2) - len(met)
        for name, found in {"appearances": Counter(shown.values()), "meetings": meetings}.items():
            told = {int(key): number for key, number in stated[name].items()}
            report.exact(f"design.json: {name}", [told], [{key: number for key, number in found.items() if number}])
    if people := table(folder / "annotators.csv"):
        again: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for row in table(folder / "repeats.csv"):
            ordered, count = "tie" not in {row["best"], row["first_best"]}, again[row["annotator"]]
            same = [row[f"first_{name}"] == row[name] for name in ("best", "worst") if ordered]
            count[:] = count[0] + len(same), count[1] + sum(same)
        repeats = [int(row[name]) for row in people for name in ("repeat_choices", "repeat_same")]
        report.exact("annotators.csv: repeats", repeats, [each for row in people for each in again[row["annotator"]]])
    files = loaded(folder / "manifest.json")["files"]
    found_files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    report.exact("manifest.json: SHA-256 of the files", [files[name]["sha256"] for name in files], found_files.values())

def methods_check(report: Report, path: Path, folder: Path, judged: Judged, judges: int) -> None:
    """The rows of a methods section about this campaign; a score set of another state of it is not compared."""
    text, name = path.read_text(encoding="utf-8"), loaded(folder / "manifest.json")["campaign"]
    stated, tuples = loaded(folder / "reliability.json")["judgements"], tuples_in(folder)
    number, compared = re.compile(r"\d[\d,]*(?:\.\d+)?"), 0
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        told = [float(each.replace(",", "")) for cell in cells[1:] for each in number.findall(cell)]
        if len(cells) == 8 and cells[0] == name:
            pairs = len({item for row in tuples for item in row})
            found = [pairs, max(map(len, tuples)), len(tuples), sum(map(len, tuples)) / pairs]
            report.add(f"{path.name}: pairs and tuples", "exact", told[:4], found, 0.02)
            report.exact(f"{path.name}: judgements", told[5:6], [len(judged.best)])
        elif len(cells) == 6 and name in cells[0] and " to " in cells[3] and "none" not in stated:
            figures = ("trials", "spearman_mean", "spearman_low", "spearman_high", "spearman_brown", "pearson_mean")
            report.add(f"{path.name}: reliability", "exact", told, [stated[each] for each in figures], 0.00051)
        elif len(cells) == 6 and name in cells[0] and cells[5] == "0":
            report.exact(f"{path.name}: judgements and annotators of a score set", told[:2], [len(judged.best), judges])
        else:
            continue
        compared += int(report.rows[-1][1])
    others = len(number.findall(text)) - compared
    report.skip(f"{path.name}: {others} other numbers", "dates, hashes, references, files, and other campaigns")

def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=".", type=Path)
    parser.add_argument("--methods", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    report, folder = Report(), asked.folder
    judged = every = judged_in(folder / "judgements.csv")
    if (more := folder / "judgements-for-models.csv").is_file():
        every = judged_in(more)
    stated = loaded(folder / "scores" / "scores.json")
    for method in ("counting", "bradley-terry", "maxdiff"):
        scores_check(report, folder, method, judged if method == "counting" else every, stated[method])
    reliability_check(report, folder, judged, asked.seed)
    design_check(report, folder, judged)
    if asked.methods:
        methods_check(report, asked.methods, folder, judged, len(set(judged.people.tolist())))
    return report.print()

if __name__ == "__main__":
    sys.exit(main())
