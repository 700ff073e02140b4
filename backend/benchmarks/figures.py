"""Samples, their figures, and how they are printed."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Series:
    """Samples of one quantity, at least one.

    Attributes:
        name: what was measured.
        samples: one figure for each repetition.
        unit: of the samples.
        target: the median should not exceed it; None where nothing is asked.
    """

    name: str
    samples: Sequence[float]
    unit: str = "ms"
    target: float | None = None

    def row(self) -> str:
        """One line of a table."""
        median = statistics.median(self.samples)
        figures = (median, p90(self.samples), min(self.samples), max(self.samples))
        cells = "".join(f"{_shown(each):>10}" for each in figures)
        return f"  {self.name:<46}{cells}{len(self.samples):>6} {self.unit:<6}{self._verdict(median)}"

    def _verdict(self, median: float) -> str:
        if self.target is None:
            return ""
        return f"target {self.target:g}: {'met' if median <= self.target else 'MISSED'}"


def p90(samples: Sequence[float]) -> float:
    """The smallest sample that nine in ten do not exceed."""
    return sorted(samples)[math.ceil(len(samples) * 0.9) - 1]


def print_table(title: str, table: Sequence[Series]) -> None:
    """Print one benchmark's figures to standard output."""
    head = "".join(f"{each:>10}" for each in ("median", "p90", "min", "max"))
    print(f"\n{title}\n  {'':<46}{head}{'n':>6}", flush=True)
    for series in table:
        print(series.row(), flush=True)


def _shown(figure: float) -> str:
    return f"{figure:.3f}" if abs(figure) < 10 else f"{figure:.1f}"
