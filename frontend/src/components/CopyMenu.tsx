/** Copies the same action in other words: as a curl call, as a command line, as a link. */
import { Check, Copy } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useEffect, useState } from "react";

import { buttonClass } from "./Button";

export interface CopyItem {
  label: string;
  text: () => string;
}

const THANKS_MS = 2000;

export function CopyMenu({ items, label = "Copy" }: { items: readonly CopyItem[]; label?: string }) {
  const [copied, setCopied] = useState("");
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(""), THANKS_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(item: CopyItem): Promise<void> {
    setCopied((await writeClipboard(item.text())) ? `${item.label} copied` : "The browser blocked copying");
  }

  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className={buttonClass()}>
          {copied ? <Check aria-hidden size={16} /> : <Copy aria-hidden size={16} />}
          {label}
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="card z-30 min-w-48 p-1 shadow-lg" align="end" sideOffset={4}>
            {items.map((item) => (
              <DropdownMenu.Item
                key={item.label}
                className="cursor-default rounded-md px-3 py-1.5 outline-none data-[highlighted]:bg-sunken"
                onSelect={() => void copy(item)}
              >
                {item.label}
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

/** Over plain HTTP on another machine's name browsers offer no clipboard; the old way still works. */
async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
