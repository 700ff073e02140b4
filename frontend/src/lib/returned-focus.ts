/** Where the focus goes when a dialog closes that other code than its trigger opened: back to what had it before. */
import { useRef } from "react";

export interface ReturnedFocus {
  readonly onOpenAutoFocus: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
}

/** For the content of a dialog. What the dialog's action has focused meanwhile keeps the focus. */
export function useReturnedFocus(): ReturnedFocus {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus() {
      before.current = document.activeElement;
    },
    onCloseAutoFocus(event) {
      event.preventDefault();
      if (document.activeElement !== document.body) return;
      const back = before.current?.isConnected ? before.current : document.querySelector("#main");
      if (back instanceof HTMLElement) back.focus({ preventScroll: true });
    },
  };
}
