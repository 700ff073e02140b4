"""Stores the figures of calibrations as files, to be shown next to those of production."""

import hashlib
import logging
from datetime import datetime
from pathlib import Path

import anyio.to_thread
from pydantic import ValidationError

from app.core.intervals import share
from app.schemas.api.calibrations import CalibratedGate, KeptCalibration
from app.schemas.calibration import CalibrationReport, Scorecard

logger = logging.getLogger(__name__)

_MOST = 20
_MOST_BYTES = 1_000_000


class CalibrationShelf:
    """Keeps one file for each corpus, `calibrations/NAME.json` in the data directory; the latest replaces it.

    Args:
        data_dir: the data directory.
    """

    def __init__(self, data_dir: Path) -> None:
        self._place = data_dir.absolute() / "calibrations"

    def keep(self, report: CalibrationReport, at: datetime, *, whole: bool) -> Path:
        """Write a calibration's figures in place of the previous ones of the same corpus.

        Raises:
            OSError: the directory cannot be written to.
        """
        kept = KeptCalibration(
            corpus=report.corpus,
            at=at,
            cases=sum(report.cases.values()),
            whole=whole,
            panel=_gate(report.panel),
            evaluators=[_gate(each) for each in report.evaluators],
        )
        self._place.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(report.corpus.encode("utf-8", "replace")).hexdigest()[:16]
        path = self._place / f"{name}.json"
        fresh = path.with_suffix(".new")
        fresh.write_text(kept.model_dump_json(indent=1), "utf-8")
        return fresh.rename(path)

    async def all(self) -> list[KeptCalibration]:
        """Return the latest calibration of each corpus, newest first."""
        return await anyio.to_thread.run_sync(self._read)

    def _read(self) -> list[KeptCalibration]:
        found = [each for path in sorted(self._place.glob("*.json")) if (each := _read_one(path))]
        return sorted(found, key=lambda each: each.at, reverse=True)[:_MOST]


def _read_one(path: Path) -> KeptCalibration | None:
    try:
        with path.open("rb") as file:
            return KeptCalibration.model_validate_json(file.read(_MOST_BYTES))
    except (OSError, ValidationError) as error:
        logger.warning("%s is not a calibration: %s", path, error)
        return None


def _gate(card: Scorecard) -> CalibratedGate:
    return CalibratedGate(
        evaluator=card.name,
        version=card.version,
        gate=card.gate,
        bad_passed=share(card.bad_passed.count, card.bad_passed.of),
        good_failed=share(card.good_failed.count, card.good_failed.of),
        errored=share(card.errored.count, card.errored.of),
    )
