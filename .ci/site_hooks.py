"""Fits the documentation for a site: it needs no repository beside it and loads nothing from elsewhere."""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)\s]+)\)")
_LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//[^>]*>""")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Name files of the repository that are no pages, instead of linking to them."""
    docs = Path(config["docs_dir"]).resolve()
    here = (docs / page.file.src_uri).parent

    def shown(link: re.Match[str]) -> str:
        target = (here / link[2].partition("#")[0]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        return f"{link[1]} (`{target.relative_to(docs.parent).as_posix()}` in the repository)"

    return _LINK.sub(shown, markdown)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Refuse a page that loads something from another place.

    Raises:
        PluginError: the page does.
    """
    if found := _LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads something from elsewhere: {found[0]}")
    return output
