"""The content that every format shows of one evaluation."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from app.runners.evaluators.issues import issue_key
from app.schemas.api.workspace_reports import EvaluationReport
from app.services.local.findings import ReportedFinding, findings_of


@dataclass(frozen=True, slots=True)
class JudgedReport:
    """The content of a report.

    Attributes:
        report: the verdict and the results.
        findings: its findings, with paths relative to the repository.
        version: PhaseRunner's version.
    """

    report: EvaluationReport
    findings: tuple[ReportedFinding, ...]
    version: str

    @classmethod
    def of(cls, report: EvaluationReport, version: str, prefix: str = "") -> "JudgedReport":
        """Read a report. `prefix` is the evaluated directory's path in the repository."""
        found = cls(report, tuple(findings_of(report)), version)
        return found._below(prefix) if prefix not in ("", ".") else found

    def _below(self, prefix: str) -> "JudgedReport":
        moved = [
            each.model_copy(update={"path": str(PurePosixPath(prefix, each.path))}) if each.path else each
            for each in self.findings
        ]
        return replace(self, findings=tuple(moved))

    def fingerprints(self) -> Iterator[tuple[ReportedFinding, str]]:
        """Yield each finding with a fingerprint, which is unique in the report.

        The fingerprint stays the same if only lines move.
        """
        return _fingerprinted(self.findings)


Render = Callable[[JudgedReport], str]


def _fingerprinted(findings: Iterable[ReportedFinding]) -> Iterator[tuple[ReportedFinding, str]]:
    seen: Counter[str] = Counter()
    for each in findings:
        key = "\x1f".join((each.evaluator, each.rule, each.path or "", issue_key(each.message)))
        seen[key] += 1
        yield each, hashlib.sha256(f"{key}\x1f{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest()
