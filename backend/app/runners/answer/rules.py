"""Reads the operator's rule sets and selects the rules for one answer."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from app.core.errors import InvalidInputError
from app.runners.evaluators.models.response_prompt import merge_rules
from app.schemas.answer_rules import MAX_RULES, RuleSets

SETTING = "ANSWER_RULES_FILE"
MAX_BYTES = 1_000_000


def read_rule_sets(path: Path | None) -> RuleSets:
    """Read rule sets from a TOML file. Without a file there are no rule sets.

    Raises:
        InvalidInputError: the file cannot be read, or does not hold rule sets. The message names the place.
    """
    if path is None:
        return RuleSets()
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InvalidInputError(f"{path} has more than {MAX_BYTES:,} bytes", field=SETTING)
        return RuleSets.model_validate(tomllib.loads(data.decode()))
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}", field=SETTING) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8 at byte {error.start}", field=SETTING) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{path} is no TOML: {error}", field=SETTING) from error
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)[:5]
        told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}".lstrip(": ") for each in faults)
        raise InvalidInputError(f"{path}: {told}", field=SETTING) from error


def rules_for(sets: RuleSets, domains: Iterable[str], further: Iterable[str] = ()) -> list[str]:
    """Return the default rules, the rules of each domain in order, and the further ones, without duplicates.

    Raises:
        InvalidInputError: a domain has no rules, or there are too many rules.
    """
    try:
        rules = merge_rules(domains, sets.by_domain(), further)
    except ValueError as error:
        raise InvalidInputError(str(error), field="domains") from error
    if len(rules) > MAX_RULES:
        raise InvalidInputError(f"there are {len(rules)} rules; at most {MAX_RULES} are asked", field="rules")
    return rules
