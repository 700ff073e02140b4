"""Records which evaluators belong to which phase, and which are gates. Pure: builds and runs nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.runners.evaluators.protocol import EvaluationCategory, Evaluator

BUILT_IN = "built-in"


@dataclass(frozen=True, slots=True)
class Registration:
    """An evaluator and its use. If `phases` is None, it judges every phase. Only gates decide.

    `source` says where it comes from: `built-in`, a package, or the project's file. `observed` is a gate that
    decides nothing yet: its `gate` is False, but its verdicts are counted like a gate's.
    """

    evaluator: Evaluator
    phases: tuple[str, ...] | None
    gate: bool
    source: str = BUILT_IN
    observed: bool = False

    def covers(self, phase: str) -> bool:
        """True when the evaluator judges this phase."""
        return self.phases is None or phase in self.phases


@dataclass(frozen=True, slots=True)
class EvaluatorDescription:
    """The description of a registered evaluator for users. If `phases` is None, it judges every phase."""

    name: str
    category: EvaluationCategory
    deterministic: bool
    gate: bool
    phases: tuple[str, ...] | None
    version: str
    source: str = BUILT_IN
    observed: bool = False


class EvaluatorRegistry:
    """The evaluators of each phase, in the order of registration.

    Args:
        left_out: names of evaluators that are known but not used here; see `without`.
    """

    def __init__(self, *, left_out: Collection[str] = ()) -> None:
        self._registrations: list[Registration] = []
        self.left_out = frozenset(left_out)

    def register(
        self, evaluator: Evaluator, phases: Sequence[str] | None = None, *, gate: bool = True
    ) -> None:
        """Add an evaluator to some phases, or to every phase if `phases` is None.

        Raises:
            ValueError: its name is empty, `phases` is empty, or one of these phases already has the name.
        """
        if not evaluator.name:
            raise ValueError("an evaluator needs a name")
        if phases is not None and not phases:
            raise ValueError(
                f"evaluator {evaluator.name!r} is registered for no phase; None means every phase"
            )
        self.add(Registration(evaluator, None if phases is None else tuple(phases), gate))

    def add(self, added: Registration) -> None:
        """Add a registration.

        Raises:
            ValueError: one of its phases already has the name.
        """
        for present in self._registrations:
            if present.evaluator.name == added.evaluator.name and _share_a_phase(present, added):
                raise ValueError(
                    f"evaluator {added.evaluator.name!r} is already registered for one of these phases"
                )
        self._registrations.append(added)

    def without(self, names: Collection[str]) -> "EvaluatorRegistry":
        """Return a registry without these evaluators, whose names it still knows."""
        rest = EvaluatorRegistry(left_out=self.left_out | (self.names() & set(names)))
        rest._registrations = [each for each in self._registrations if each.evaluator.name not in names]
        return rest

    def only(self, names: Collection[str]) -> "EvaluatorRegistry":
        """Return a registry with only these evaluators, each of them as a gate."""
        chosen = EvaluatorRegistry()
        chosen._registrations = [
            replace(each, gate=True, observed=False)
            for each in self._registrations
            if each.evaluator.name in names
        ]
        return chosen

    def names(self) -> frozenset[str]:
        """Return the names of all evaluators."""
        return frozenset(each.evaluator.name for each in self._registrations)

    def all_registrations(self) -> tuple[Registration, ...]:
        """Return every registration, in the order in which they were made."""
        return tuple(self._registrations)

    def registrations(self, phase: str) -> list[Registration]:
        """Return the registrations for a phase: those for every phase first, then its own."""
        covering = [each for each in self._registrations if each.covers(phase)]
        return sorted(covering, key=lambda each: each.phases is not None)

    def get_evaluators(self, phase: str) -> list[Evaluator]:
        """Return the evaluators of a phase, in the order of `registrations`."""
        return [each.evaluator for each in self.registrations(phase)]

    def get_deterministic_evaluators(self, phase: str) -> list[Evaluator]:
        """Return the evaluators of a phase that are tools."""
        return [each for each in self.get_evaluators(phase) if each.is_deterministic]

    def get_llm_evaluators(self, phase: str) -> list[Evaluator]:
        """Return the evaluators of a phase that ask a model."""
        return [each for each in self.get_evaluators(phase) if not each.is_deterministic]

    def gates(self, phase: str) -> tuple[str, ...]:
        """Return the names of the evaluators that decide about a phase."""
        return tuple(each.evaluator.name for each in self.registrations(phase) if each.gate)

    def observed(self, phase: str) -> frozenset[str]:
        """Return the names of the gates that are only observed in a phase."""
        return frozenset(each.evaluator.name for each in self.registrations(phase) if each.observed)

    def is_gate(self, phase: str, name: str) -> bool:
        """Return True if this evaluator decides about this phase.

        A name that the phase does not have is no gate.
        """
        return name in self.gates(phase)

    def describe(self) -> list[EvaluatorDescription]:
        """Return the description of every registration, in the order in which they were made."""
        return [
            EvaluatorDescription(
                name=each.evaluator.name,
                category=each.evaluator.category,
                deterministic=each.evaluator.is_deterministic,
                gate=each.gate,
                phases=each.phases,
                version=str(getattr(each.evaluator, "version", "1")),
                source=each.source,
                observed=each.observed,
            )
            for each in self._registrations
        ]


def _share_a_phase(one: Registration, other: Registration) -> bool:
    if one.phases is None or other.phases is None:
        return True
    return not set(one.phases).isdisjoint(other.phases)
