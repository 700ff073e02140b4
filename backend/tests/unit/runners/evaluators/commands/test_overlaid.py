"""Questions about files without which a command fails."""

from app.runners.evaluators.commands.overlaid import asking
from app.runners.evaluators.protocol import EvaluationCategory, EvaluationResult
from app.schemas.questions import MAX_QUESTIONS
from tests.unit.runners.evaluators.conftest import Tree


def test_many_changed_files_are_one_question(tree: Tree) -> None:
    names = [f"test/a{number}.test.js" for number in range(MAX_QUESTIONS + 5)]
    failed = EvaluationResult(
        evaluator_name="unit", category=EvaluationCategory.TESTING, passed=False, feedback="It fails"
    )
    own = failed.model_copy(update={"passed": True})
    base, moved = tree(dict.fromkeys(names, "x")), tree({})
    few = asking(failed, own, names[:3], base, moved)
    assert [each.id for each in few.questions] == names[:3]
    (one,) = asking(failed, own, names, base, moved).questions
    assert f"{len(names)} protected files" in one.text
