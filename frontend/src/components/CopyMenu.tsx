/** Copies the same action in other words: as a curl call, as a command line, as a link. */
import { Check, Copy } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useCopy } from "@/lib/clipboard";
import { visible } from "@/lib/text/visible";

import { buttonClass } from "./Button";

export interface CopyItem {
  label: string;
  text: () => string;
}

/** A prompt is long, and its menu shows where it begins. */
const SHOWN_CHARS = 400;

export function CopyMenu({ items, label = "Copy" }: { items: readonly CopyItem[]; label?: string }) {
  const { copied, copy } = useCopy();
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className={buttonClass()}>
          {copied ? <Check aria-hidden size={16} /> : <Copy aria-hidden size={16} />}
          {label}
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            className="card z-30 w-[min(36rem,calc(100vw-2rem))] p-1 shadow-lg"
            align="end"
            sideOffset={4}
          >
            {items.map((item) => (
              <DropdownMenu.Item
                key={item.label}
                className="flex cursor-default flex-col rounded-md px-3 py-1.5 outline-none data-[highlighted]:bg-sunken"
                onSelect={() => void copy(item.label, item.text())}
              >
                {item.label}
                <code className="truncate text-muted" data-copies>
                  {visible(item.text().slice(0, SHOWN_CHARS))}
                </code>
              </DropdownMenu.Item>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <span role="status" className="sr-only">
        {copied}
      </span>
    </>
  );
}
