/** A command in full, with a button that copies it. */
import { Check, Copy } from "lucide-react";

import { useCopy } from "@/lib/clipboard";

import { Button } from "./Button";

export function CopyLine({ label, text }: { label: string; text: string }) {
  const { copied, copy } = useCopy();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="font-medium">{label}</span>
      <div className="flex min-w-0 items-start gap-2">
        <code className="theirs min-w-0 flex-1 rounded-md bg-sunken px-2 py-1.5" data-command>
          {/* Lines break between words, not at the hyphens of options. */}
          {text.split(/(\s+)/).map((each, index) => (
            <span key={index} className={index % 2 === 0 ? "inline-block max-w-full" : ""}>
              {each}
            </span>
          ))}
        </code>
        <Button onClick={() => void copy("Command", text)} aria-label={`Copy: ${label}`}>
          {copied ? <Check aria-hidden size={16} /> : <Copy aria-hidden size={16} />}
        </Button>
      </div>
      <span role="status" className="sr-only">
        {copied}
      </span>
    </div>
  );
}
