"""Rules for answers of a domain, as an operator configures them."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.schemas.text import CleanLine, Name

MAX_RULES = 100
"""The most rules of one domain, and of all domains of an answer together."""

MAX_DEPTH = 20
"""The longest chain of domains that extend one another."""

Rule = Annotated[CleanLine, Field(min_length=1, max_length=1000)]


class _Configured(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DomainRules(_Configured):
    """The rules of one domain; those of the domains in `extends` also apply, and come first."""

    rules: tuple[Rule, ...] = Field(default=(), max_length=MAX_RULES)
    extends: tuple[Name, ...] = Field(default=(), max_length=20)


class RuleSets(_Configured):
    """Rules by domain. A domain that extends an unknown one, or itself, is refused."""

    domains: dict[Name, DomainRules] = Field(default={}, max_length=1000)

    @model_validator(mode="after")
    def _can_be_merged(self) -> Self:
        for name in self.domains:
            self.rules_of(name)
        return self

    def rules_of(self, domain: str) -> list[str]:
        """Return the rules of a domain, after those that it extends and without repeats.

        Raises:
            ValueError: there is no such domain, or it has too many rules.
        """
        found: dict[str, list[str]] = {}
        self._collect(domain, (), found)
        rules = list(dict.fromkeys(rule for each in found.values() for rule in each))
        if len(rules) > MAX_RULES:
            raise ValueError(f"the domain {domain!r} has {len(rules)} rules with those it extends")
        return rules

    def by_domain(self) -> dict[str, list[str]]:
        """Return the rules of every domain."""
        return {name: self.rules_of(name) for name in self.domains}

    def _collect(self, domain: str, way: tuple[str, ...], found: dict[str, list[str]]) -> None:
        """Add the rules of a domain to `found`, after those that it extends."""
        if domain in way:
            raise ValueError(f"the domain {domain!r} extends itself: {' > '.join((*way, domain))}")
        if len(way) == MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} domains extend one another: {' > '.join(way)}")
        if domain not in self.domains:
            by = f", which {way[-1]!r} extends" if way else ""
            known = ", ".join(sorted(self.domains)) or "none"
            raise ValueError(f"there are no rules for the domain {domain!r}{by}; known domains: {known}")
        if domain in found:
            return
        own = self.domains[domain]
        for each in dict.fromkeys(own.extends):
            self._collect(each, (*way, domain), found)
        found[domain] = list(own.rules)
