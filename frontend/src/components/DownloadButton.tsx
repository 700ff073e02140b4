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
  return (
    <>
      <Button
        onClick={() => {
          setError(null);
          save().catch(setError);
        }}
      >
        <Download aria-hidden size={16} />
        {children}
      </Button>
      {error !== null && (
        <p role="alert" className="theirs text-failed">
          {explain(error, `download the ${what}`).text}
        </p>
      )}
    </>
  );
}
