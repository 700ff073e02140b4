"""What a second run of failed tests, here and at the base, says about them.

It never turns a failure into a pass. It is reported so that no time is wasted on a fault that does not exist.
If *every* failure is a flake of the base or due to the machine, there is no verdict. The base's results come
from the run's baseline, if there is one:

- *flaky*: failed, and passed when run again alone. The candidate fails, and the feedback says that it is
  flaky.
- *unsteady*: a flaky test that also passes in a second run of all tests, or that fails because a connection
  broke, or because of what other tests left behind. So its failure does not depend on other tests, or only by
  time, and a person is asked.
- *flaky at base*: a flaky test that both passes and fails at the base, in up to three runs. That is not the
  candidate's fault: the evaluation can be repeated.
- *red at base*: the base fails the test as well, in each of two runs. That is normal for tests written before
  their code, which a candidate must make pass; `base_failures` says which ones count.
- *failing in company*: a flaky test that also passes alone at the base and fails there in a run of all tests.
  So the order or the number of tests fails it, as when a cache is full from some test on. It is red at base.
- *environment*: the base fails it with the same message, which is about the machine (no network, a missing
  program or library).
- *without network*: the base fails it, and something in it tries to reach a network there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.runners.evaluators.testing.running.report import RunReport


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What is known about failing tests, by id. The module explains the terms.

    `red` holds the messages at the base, `red_files` the project's files in the tracebacks there. `varying`
    are red tests whose messages may differ between runs of one code: they do, as with tests that draw their
    data, or a second run of the base would take too long.
    """

    flaky: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    at_base: tuple[str, ...] = ()
    red: Mapping[str, str] = field(default_factory=dict[str, str])
    red_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    varying: tuple[str, ...] = ()
    flaky_at_base: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    without_network: frozenset[str] = frozenset()

    def excuses(self, report: RunReport) -> bool:
        """Return True if the candidate caused no failure of a run."""
        excused = {*self.flaky_at_base, *self.environment}
        return bool(report.failures) and all(each.id in excused for each in report.failures)

    @property
    def excuse(self) -> str:
        """Why there is no verdict, for people and agents."""
        flaky = [f"{each} is flaky at base, too: it passes and fails there" for each in self.flaky_at_base]
        lacking = [f"{name} fails at base in the same way: {what}" for name, what in self.environment.items()]
        return "No verdict on the tests. " + "; ".join([*flaky, *lacking])

    @property
    def reason(self) -> str:
        """The same as a word of the metadata."""
        return "environment" if self.environment else "flaky_at_base"

    def is_flaky_at_base(self, test_id: str) -> bool:
        """Return True if the base both fails and passes a test."""
        return test_id in self.flaky_at_base or (test_id in self.at_base and test_id not in self.red)

    def __add__(self, other: "SecondLook") -> "SecondLook":
        return SecondLook(
            flaky=(*self.flaky, *other.flaky),
            unsteady=(*self.unsteady, *other.unsteady),
            at_base=(*self.at_base, *other.at_base),
            red={**self.red, **other.red},
            red_files={**self.red_files, **other.red_files},
            varying=(*self.varying, *other.varying),
            flaky_at_base=(*self.flaky_at_base, *other.flaky_at_base),
            environment={**self.environment, **other.environment},
            without_network=self.without_network | other.without_network,
        )
