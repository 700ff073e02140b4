/** The palette: every place, every action on screen, and the newest runs, by a few letters. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Dialog } from "radix-ui";
import { useState } from "react";

import { StatusBadge } from "@/components/StatusBadge";
import { UntrustedText } from "@/components/UntrustedText";
import { KINDS } from "@/lib/kinds";
import { runsQuery } from "@/lib/queries/runs";
import { useReturnedFocus } from "@/lib/returned-focus";
import { useOfferedActions } from "@/lib/shortcuts";

import { KeyCaps } from "./KeyCaps";

const ITEM =
  "flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 data-[selected=true]:bg-sunken";
const GROUP = [
  "[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1",
  "[&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted",
].join(" ");
const SHOWN_RUNS = 8;

export default function Palette({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState("");
  const actions = useOfferedActions();
  const navigate = useNavigate();
  const returned = useReturnedFocus();
  const runs = useInfiniteQuery(runsQuery(words.trim() ? { q: words.trim().slice(0, 200) } : {}));
  const found = (runs.data?.pages[0]?.items ?? []).slice(0, SHOWN_RUNS);
  const groups = [...new Set(actions.map((each) => each.group))];

  function act(run: () => void): void {
    onClose();
    run();
  }

  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          {...returned}
          aria-describedby={undefined}
          className={[
            "card fixed left-1/2 top-[12dvh] z-50 w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2",
            "overflow-hidden shadow-xl",
          ].join(" ")}
        >
          <Dialog.Title className="sr-only">Search and actions</Dialog.Title>
          <Command label="Search and actions" loop>
            <Command.Input
              value={words}
              onValueChange={setWords}
              placeholder="Type an action, a run's name, goal or id"
              className="w-full border-b border-line bg-transparent px-4 py-3 outline-none"
            />
            <Command.List className="max-h-[50dvh] overflow-y-auto p-2" label="Results">
              {found.length === 0 && (
                <Command.Empty className="p-4 text-center text-muted">
                  {runs.isFetching ? "Searching …" : "No matches"}
                </Command.Empty>
              )}
              {groups.map((group) => (
                <Command.Group key={group} heading={group} className={GROUP}>
                  {actions
                    .filter((each) => each.group === group)
                    .map((each) => (
                      <Command.Item
                        key={each.id}
                        value={`${group} ${each.label} ${each.id}`}
                        className={ITEM}
                        onSelect={() => act(each.run)}
                      >
                        {each.label}
                        {each.keys && <KeyCaps keys={each.keys} className="ml-auto" />}
                      </Command.Item>
                    ))}
                </Command.Group>
              ))}
              <Command.Group heading="Runs" className={GROUP} forceMount>
                {found.map((run) => (
                  <Command.Item
                    key={run.id}
                    // The service has searched already.
                    value={`${words} ${run.id}`}
                    className={ITEM}
                    onSelect={() =>
                      act(() => void navigate({ to: KINDS[run.kind].page, params: { id: run.id } }))
                    }
                  >
                    <StatusBadge status={run.paused ? "paused" : run.status} compact />
                    <UntrustedText className="truncate" text={run.name} />
                    <code className="ml-auto text-muted">{run.id.slice(0, 8)}</code>
                  </Command.Item>
                ))}
              </Command.Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
