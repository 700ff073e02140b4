/** Saves something as a file, and says why if that fails. */
import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";

import { Button } from "./Button";
import { explain } from "./states";

interface Props {
  /** What is saved, such as `patch`. */
  what: string;
  save: () => Promise<void>;
  children: ReactNode;
}

export function DownloadButton({ what, save, children }: Props) {
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  function start(): void {
    setError(null);
    setBusy(true);
    void save()
      .catch(setError)
      .finally(() => setBusy(false));
  }
  return (
    <>
      <Button aria-disabled={isBusy} className="aria-disabled:opacity-60" onClick={() => isBusy || start()}>
        <Download aria-hidden size={16} />
        {isBusy ? "Loading …" : children}
      </Button>
      {error !== null && (
        <p role="alert" className="theirs text-failed">
          {explain(error, `download the ${what}`).text}
        </p>
      )}
    </>
  );
}
