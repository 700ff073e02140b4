"""A user without a mouse: moves with Tab, and notices when the focus is not to be seen."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

MOST_STEPS = 150
"""Places that Tab may stop at before the one that is wanted."""

PARTS_OF_A_DATE = 4
"""Day, month, year and the calendar are stops within one field."""

# A link that wraps has several boxes; its middle may lie in none of them.
_LOST = """() => {
  const each = document.activeElement;
  if (!each || each === document.body || each.id === "main") return "";
  const look = getComputedStyle(each);
  const box = [...each.getClientRects()][0] ?? each.getBoundingClientRect();
  const told = ` ${each.outerHTML.slice(0, 200)} at ${JSON.stringify(box)}`;
  const hasRing = look.outlineStyle !== "none" && Number.parseFloat(look.outlineWidth) > 0;
  if (!hasRing) return "no ring around" + told;
  const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
  if (left >= right || top >= bottom) return "out of sight:" + told;
  const isFree = [0.5, 0.1, 0.9].some((part) => {
    const seen = document.elementFromPoint((left + right) / 2, top + part * (bottom - top));
    return seen === null || each.contains(seen) || seen.contains(each) || Boolean(seen.closest("label"));
  });
  return isFree ? "" : "covered:" + told;
}"""
_IS_FOCUSED = "each => each === document.activeElement"


@dataclass
class Keyboard:
    """The keyboard of one page."""

    page: Page

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for each in keys:
            self.page.keyboard.press(each)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.page.keyboard.insert_text(text)

    def reach(self, wanted: Locator, *, back: bool = False) -> None:
        """Press Tab until something has the focus; each stop must be visible, and none may hold it."""
        expect(wanted).to_be_visible()
        stays = 0
        for _ in range(MOST_STEPS):
            if wanted.evaluate(_IS_FOCUSED):
                return
            before = self._here()
            self.press("Shift+Tab" if back else "Tab")
            stays = stays + 1 if self._here() == before else 0
            assert stays <= PARTS_OF_A_DATE, f"Tab stays at {before}"
            self.see()
        raise AssertionError(f"{wanted} is not reached from {urlsplit(self.page.url).path}")

    def choose(self, wanted: Locator, *, back: bool = False) -> None:
        """Reach something and press Enter."""
        self.reach(wanted, back=back)
        self.press("Enter")

    def see(self) -> None:
        """Fail if what has the focus is not to be seen."""
        lost = self.page.evaluate(_LOST)
        assert not lost, lost

    def _here(self) -> str:
        """What has the focus, and its place among all elements."""
        return self.page.evaluate(
            "() => `${[...document.querySelectorAll('*')].indexOf(document.activeElement)} "
            "${document.activeElement.outerHTML.slice(0, 200)}`"
        )
