/** Asks a worker for the colours of code. It starts with the first diff that has any. */
import type { HunkData, HunkTokens } from "react-diff-view";

export interface ColourRequest {
  readonly id: number;
  readonly hunks: readonly HunkData[];
  readonly language: string;
}

export interface ColourReply {
  readonly id: number;
  readonly tokens: HunkTokens;
}

type Take = (tokens: HunkTokens) => void;

const waiting = new Map<number, Take>();
let worker: Worker | undefined;
let asked = 0;

function begun(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("highlight-worker.ts", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<ColourReply>) => {
    waiting.get(data.id)?.(data.tokens);
    waiting.delete(data.id);
  });
  return worker;
}

/** Gives a function that says that the colours are not wanted any more. Without an answer code has none. */
export function askColours(hunks: readonly HunkData[], language: string, take: Take): () => void {
  asked += 1;
  const id = asked;
  waiting.set(id, take);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
  begun().postMessage({ id, hunks, language } satisfies ColourRequest);
  return () => waiting.delete(id);
}
