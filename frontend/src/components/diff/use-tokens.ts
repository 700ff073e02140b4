/** The colours of a file's code: they come after the text, and never for very long files. */
import { startTransition, useEffect, useState } from "react";
import type { HunkData, HunkTokens } from "react-diff-view";

import { askColours } from "@/lib/diff/colours";
import { languageOf } from "@/lib/diff/languages";

const MOST_ROWS = 3_000;

interface Coloured {
  readonly hunks: readonly HunkData[];
  readonly tokens: HunkTokens;
}

/** None as long as they are not known; `isShown` says whether the file is near the screen. */
export function useTokens(path: string, hunks: readonly HunkData[], isShown: boolean): HunkTokens | null {
  const [known, setKnown] = useState<Coloured | null>(null);
  const isKnown = known !== null && known.hunks === hunks;
  useEffect(() => {
    if (isKnown) return undefined;
    const language = languageOf(path);
    const rows = hunks.reduce((sum, each) => sum + each.changes.length, 0);
    if (!isShown || language === null || rows === 0 || rows > MOST_ROWS) return undefined;
    return askColours(hunks, language, (tokens) => startTransition(() => setKnown({ hunks, tokens })));
  }, [path, hunks, isShown, isKnown]);
  return isKnown ? known.tokens : null;
}
