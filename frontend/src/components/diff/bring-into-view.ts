/** Frames in place after which nothing moves any more, and the most that are waited for. */
const STILL = 10;
const MOST = 300;

const INPUTS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/**
 * Scrolls an element to the top of the page, and keeps it there until all around it has its height.
 *
 * Files far away have an estimated height until they come close, so that one jump may miss its end. What the
 * reader does meanwhile ends it.
 */
export function bringIntoView(find: () => Element | null): void {
  let isEnded = false;
  const end = () => {
    isEnded = true;
    for (const each of INPUTS) window.removeEventListener(each, end);
  };
  let still = 0;
  let frames = 0;
  let place = Number.NaN;
  const step = () => {
    const element = find();
    if (isEnded || element === null || still === STILL || frames === MOST) {
      end();
      return;
    }
    element.scrollIntoView({ block: "start" });
    const top = element.getBoundingClientRect().top;
    still = top === place ? still + 1 : 0;
    place = top;
    frames += 1;
    requestAnimationFrame(step);
  };
  step();
  // The key or click that asks for it is over by then.
  requestAnimationFrame(() => {
    if (!isEnded) for (const each of INPUTS) window.addEventListener(each, end);
  });
}
