/** Keeps the keyboard's place when what has the focus goes away: a decided row, or the form that decided it. */
import { type RefObject, useEffect, useRef } from "react";

/**
 * The focus goes to the first link of `place` when an element in it had the focus and is gone; without links to the
 * page. A click elsewhere gives up the place.
 */
export function useKeptFocus(place: RefObject<HTMLElement | null>): void {
  const focused = useRef<Element | null>(null);
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      focused.current = target instanceof Element && place.current?.contains(target) ? target : null;
    };
    const onPointer = () => {
      focused.current = null;
    };
    document.addEventListener("focusin", onFocus);
    document.addEventListener("pointerdown", onPointer);
    return () => {
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("pointerdown", onPointer);
    };
  }, [place]);
  // After each drawing: what had the focus may have gone with it.
  useEffect(() => keep(focused, place));
  // A part of the place may be drawn by itself, as the form whose work has ended.
  useEffect(() => {
    if (!place.current) return undefined;
    const observer = new MutationObserver(() => keep(focused, place));
    observer.observe(place.current, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [place]);
}

function keep(focused: RefObject<Element | null>, place: RefObject<HTMLElement | null>): void {
  if (!focused.current || focused.current.isConnected || document.activeElement !== document.body) return;
  focused.current = null;
  const next = place.current?.querySelector("a") ?? document.querySelector<HTMLElement>("#main");
  next?.focus();
}
