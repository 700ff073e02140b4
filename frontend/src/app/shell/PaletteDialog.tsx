/** Opens the palette by ⌘K or Ctrl K; its code is loaded when it is first asked for. */
import { Dialog } from "radix-ui";
import { type ComponentType, useEffect, useState } from "react";

import { Button } from "@/components/Button";
import { useReturnedFocus } from "@/lib/returned-focus";
import { useStore } from "@/lib/store";

import { overlays } from "./overlays";

interface PaletteProps {
  onClose: () => void;
}

export function PaletteDialog() {
  const isOpen = useStore(overlays) === "palette";
  const { Palette, hasFailed } = usePalette(isOpen);
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
  if (!isOpen) return null;
  if (Palette) return <Palette onClose={overlays.close} />;
  return hasFailed ? <NotLoaded onClose={overlays.close} /> : null;
}

/** Without a service there is no code to load. The page stays, and the next key asks again. */
function usePalette(isOpen: boolean) {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!isOpen || Palette) return undefined;
    let isWanted = true;
    import("./Palette").then(
      (loaded) => isWanted && setPalette(() => loaded.default),
      () => isWanted && setFailed(true),
    );
    return () => {
      isWanted = false;
      setFailed(false);
    };
  }, [isOpen, Palette]);
  return { Palette, hasFailed };
}

function NotLoaded({ onClose }: PaletteProps) {
  const returned = useReturnedFocus();
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Content
          {...returned}
          className="card fixed left-1/2 top-[12dvh] z-50 w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 p-4 shadow-xl"
        >
          <Dialog.Title className="font-semibold">Search and actions</Dialog.Title>
          <Dialog.Description className="my-2">
            They cannot be loaded: the service does not respond.
          </Dialog.Description>
          <Dialog.Close asChild>
            <Button>Close</Button>
          </Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
