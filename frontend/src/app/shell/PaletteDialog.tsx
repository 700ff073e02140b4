/** Opens the palette by ⌘K or Ctrl K; its code is loaded when it is first asked for. */
import { lazy, Suspense, useEffect } from "react";

import { useStore } from "@/lib/store";

import { overlays } from "./overlays";

const Palette = lazy(() => import("./Palette"));

export function PaletteDialog() {
  const overlay = useStore(overlays);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== "k" ||
        !(event.ctrlKey || event.metaKey) ||
        event.altKey ||
        event.shiftKey
      )
        return;
      event.preventDefault();
      if (overlays.get() === "palette") overlays.close();
      else overlays.open("palette");
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  if (overlay !== "palette") return null;
  return (
    <Suspense fallback={null}>
      <Palette onClose={overlays.close} />
    </Suspense>
  );
}
