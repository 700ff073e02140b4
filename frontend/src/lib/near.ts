/** Whether parts of a long page are on the screen or close to it: only those need all that they consist of. */
import { type RefObject, startTransition, useEffect, useState } from "react";

/** Closer to the screen than this, in pixels, a part is drawn whole, so that its reader finds it so. */
const AHEAD_PX = 1_500;

interface Nearness {
  readonly isNear: boolean;
  /** Of the part as it was when it was near last, in pixels; 0 before that. */
  readonly height: number;
}

const told = new WeakMap<Element, (entry: IntersectionObserverEntry) => void>();
const watchers = new Map<number, IntersectionObserver>();

/** One observer for all parts of the page that ask for the same distance. */
function watcherOf(ahead: number): IntersectionObserver {
  const known = watchers.get(ahead);
  if (known) return known;
  const made = new IntersectionObserver(
    (entries) => {
      for (const each of entries) told.get(each.target)?.(each);
    },
    { rootMargin: `${ahead}px 0px` },
  );
  watchers.set(ahead, made);
  return made;
}

/** A part that holds the focus or a part of what its reader selected stays whole. */
function isInUse(element: Element): boolean {
  if (element.contains(document.activeElement)) return true;
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

/** `isNear` is the answer until the browser has told. */
export function useNear(place: RefObject<Element | null>, isNear: boolean, ahead = AHEAD_PX): Nearness {
  const [nearness, setNearness] = useState<Nearness>({ isNear, height: 0 });
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const watcher = watcherOf(ahead);
    told.set(element, ({ isIntersecting, boundingClientRect: { height } }) => {
      if (!isIntersecting && isInUse(element)) return;
      startTransition(() =>
        setNearness((before) =>
          before.isNear === isIntersecting ? before : { isNear: isIntersecting, height },
        ),
      );
    });
    watcher.observe(element);
    return () => {
      watcher.unobserve(element);
      told.delete(element);
    };
  }, [place, ahead]);
  return nearness;
}
