/** What can be unfolded. It is made when it is first opened: it may be long. */
import { type ReactNode, useState } from "react";

interface Props {
  summary: ReactNode;
  /** At first; then its reader decides. */
  open?: boolean;
  className?: string;
  summaryClass?: string;
  children: () => ReactNode;
}

export function Disclosure({
  summary,
  open = false,
  className = "",
  summaryClass = "text-muted",
  children,
}: Props) {
  const [atFirst] = useState(open);
  const [wasOpened, setOpened] = useState(open);
  return (
    <details
      className={className}
      open={atFirst}
      onToggle={(event) => event.currentTarget.open && setOpened(true)}
    >
      <summary className={`min-h-7 cursor-pointer ${summaryClass}`}>{summary}</summary>
      {wasOpened && children()}
    </details>
  );
}
