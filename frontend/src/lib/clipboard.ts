/** Copies text, and says for a moment that it did. */
import { useEffect, useState } from "react";

const SHOWN_MS = 2000;

export function useCopy(): { copied: string; copy: (label: string, text: string) => Promise<void> } {
  const [copied, setCopied] = useState("");
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(""), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async (label: string, text: string) =>
    setCopied((await writeClipboard(text)) ? `${label} copied` : "The browser blocked copying");
  return { copied, copy };
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
