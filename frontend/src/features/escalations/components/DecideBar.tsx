/** On small screens the way to the decision, as long as the decision is out of sight. */
import { useEffect, useState } from "react";

const FORM = "resolve";

export function DecideBar() {
  const [isNeeded, setNeeded] = useState(true);
  useEffect(() => {
    const form = document.querySelector(`#${FORM}`);
    if (form === null) return undefined;
    const observer = new IntersectionObserver(([entry]) => setNeeded(!entry?.isIntersecting));
    observer.observe(form);
    return () => observer.disconnect();
  }, []);
  if (!isNeeded) return null;
  return (
    <a
      href={`#${FORM}`}
      className={[
        "fixed inset-x-0 bottom-0 z-10 border-t border-line bg-canvas p-2 text-center font-medium",
        "underline lg:hidden",
      ].join(" ")}
    >
      Decide: accept, retry or reject
    </a>
  );
}
