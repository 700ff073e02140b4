/** A part of a form that can be folded. What has to be seen opens it; only its user shuts it. */
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";

interface Props {
  title: string;
  /** It holds something that its user has to see. */
  hasNews: boolean;
  /** At first it holds something that its user typed before. */
  isFilled: boolean;
  children: ReactNode;
}

export function FormPart({ title, hasNews, isFilled, children }: Props) {
  const [atFirst] = useState(isFilled);
  const part = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (hasNews && part.current) part.current.open = true;
  }, [hasNews]);
  return (
    <section className="card p-4" aria-label={title}>
      <details ref={part} open={atFirst}>
        <summary className="cursor-pointer font-medium">{title}</summary>
        {children}
      </details>
    </section>
  );
}
