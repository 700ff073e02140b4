/** The colours of a file's code: they come after the text, and never for very long files. */
import { startTransition, useEffect, useState } from "react";
import type { HunkData, HunkTokens } from "react-diff-view";

import { languageOf } from "@/lib/diff/languages";

const MOST_ROWS = 3_000;

interface Coloured {
  readonly hunks: readonly HunkData[];
  readonly tokens: HunkTokens;
}

/** None as long as they are not known; `isShown` says whether any row is on the page. */
export function useTokens(path: string, hunks: readonly HunkData[], isShown: boolean): HunkTokens | null {
  const [known, setKnown] = useState<Coloured | null>(null);
  useEffect(() => {
    const language = languageOf(path);
    const rows = hunks.reduce((sum, each) => sum + each.changes.length, 0);
    if (!isShown || language === null || rows === 0 || rows > MOST_ROWS) return undefined;
    let isWanted = true;
    void import("@/lib/diff/highlight").then(({ tokensOf }) => {
      if (isWanted) startTransition(() => setKnown({ hunks, tokens: tokensOf(hunks, language) }));
    });
    return () => {
      isWanted = false;
    };
  }, [path, hunks, isShown]);
  return known !== null && known.hunks === hunks ? known.tokens : null;
}
