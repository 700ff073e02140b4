"""Writes a module of an attack project with bodies in place of what is not implemented."""

from app.corpora.attacks.pairs import AttackProject

_UNWRITTEN = "raise NotImplementedError"


def written(project: AttackProject, file: str, *bodies: str, head: str = "") -> str:
    """Return a file whose functions get bodies, in order.

    Args:
        project: the project.
        file: its file.
        bodies: one for each unwritten function, with the indentation of its further lines.
        head: statements below the module's docstring.

    Raises:
        ValueError: there are more or fewer unwritten functions.
    """
    parts = project.files[file].split(_UNWRITTEN)
    if len(parts) != len(bodies) + 1:
        raise ValueError(f"{file} has {len(parts) - 1} functions to write, not {len(bodies)}")
    text = parts[0] + "".join(body + part for body, part in zip(bodies, parts[1:], strict=True))
    if not head:
        return text
    docstring, rest = text.split('"""\n', 1)
    return f'{docstring}"""\n\n{head}\n{rest}'
