/** Which files of a diff its reader has viewed; kept in this browser. */
import { useCallback, useState } from "react";

import { storage } from "@/lib/storage";

const PREFIX = "phaserunner.viewed.";

interface Viewed {
  readonly viewed: ReadonlySet<string>;
  readonly setViewed: (path: string, isViewed: boolean) => void;
}

/** `key` names both ends of the diff: another output has not been viewed. */
export function useViewed(key: string): Viewed {
  const [viewed, setPaths] = useState<ReadonlySet<string>>(() => read(key));
  const setViewed = useCallback(
    (path: string, isViewed: boolean) => {
      const next = new Set(read(key));
      if (isViewed) next.add(path);
      else next.delete(path);
      keep(key, next);
      setPaths(next);
    },
    [key],
  );
  return { viewed, setViewed };
}

function read(key: string): ReadonlySet<string> {
  try {
    const found: unknown = JSON.parse(storage.get(PREFIX + key) ?? "[]");
    return new Set(Array.isArray(found) ? found.filter((each) => typeof each === "string") : []);
  } catch {
    return new Set();
  }
}

function keep(key: string, paths: ReadonlySet<string>): void {
  if (paths.size === 0) storage.remove(PREFIX + key);
  else storage.set(PREFIX + key, JSON.stringify([...paths]));
}
