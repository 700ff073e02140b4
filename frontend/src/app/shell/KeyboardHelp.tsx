/** Lists every key that works on this page; opened by `?`. */
import { useNavigate } from "@tanstack/react-router";
import { Dialog } from "radix-ui";
import { useEffect, useMemo } from "react";

import { Button } from "@/components/Button";
import { useReturnedFocus } from "@/lib/returned-focus";
import { type Action, isMac, listenToKeys, useActions, useOfferedActions } from "@/lib/shortcuts";
import { useStore } from "@/lib/store";

import { KeyCaps } from "./KeyCaps";
import { overlays } from "./overlays";

export function KeyboardHelp() {
  const navigate = useNavigate();
  const overlay = useStore(overlays);
  const returned = useReturnedFocus();
  const offered = useOfferedActions().filter((each) => each.keys);
  const general = useMemo<readonly Action[]>(
    () => [
      { id: "go-runs", label: "Go to runs", keys: "g r", group: "Go", run: () => void navigate({ to: "/" }) },
      {
        id: "go-escalations",
        label: "Go to escalations",
        keys: "g e",
        group: "Go",
        run: () => void navigate({ to: "/escalations" }),
      },
      {
        id: "go-backlog",
        label: "Go to the backlog",
        keys: "g b",
        group: "Go",
        run: () => void navigate({ to: "/backlog" }),
      },
      {
        id: "go-metrics",
        label: "Go to metrics",
        keys: "g m",
        group: "Go",
        run: () => void navigate({ to: "/metrics" }),
      },
      {
        id: "go-evaluators",
        label: "Go to evaluators",
        keys: "g v",
        group: "Go",
        run: () => void navigate({ to: "/evaluators" }),
      },
      {
        id: "go-settings",
        label: "Go to settings",
        keys: "g s",
        group: "Go",
        run: () => void navigate({ to: "/settings" }),
      },
      {
        id: "new",
        label: "Start a new sprint",
        keys: "n",
        group: "Go",
        run: () => void navigate({ to: "/new" }),
      },
      {
        id: "help",
        label: "Show the keyboard shortcuts",
        keys: "?",
        group: "Help",
        run: () => overlays.open("help"),
      },
    ],
    [navigate],
  );
  useActions(general);
  useEffect(() => listenToKeys(window), []);

  return (
    <Dialog.Root open={overlay === "help"} onOpenChange={(open) => !open && overlays.close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          {...returned}
          aria-describedby={undefined}
          className={[
            "card fixed left-1/2 top-[10dvh] z-50 max-h-[80dvh] w-[min(32rem,calc(100vw-2rem))]",
            "-translate-x-1/2 overflow-y-auto p-4 shadow-xl",
          ].join(" ")}
        >
          <div className="mb-3 flex items-center">
            <Dialog.Title className="text-lg font-semibold">Keyboard shortcuts</Dialog.Title>
            <Dialog.Close asChild>
              <Button className="ml-auto">Close</Button>
            </Dialog.Close>
          </div>
          <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-2">
            <dt>Search and every action</dt>
            <dd>
              <KeyCaps keys={isMac() ? "⌘ K" : "Ctrl K"} />
            </dd>
            {offered.map((each) => (
              <div key={each.id} className="contents">
                <dt>{each.label}</dt>
                <dd>
                  <KeyCaps keys={each.keys ?? ""} />
                </dd>
              </div>
            ))}
          </dl>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
