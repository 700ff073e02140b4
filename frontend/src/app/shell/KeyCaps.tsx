/** Keys to press, one after the other. */
export function KeyCaps({ keys, className = "" }: { keys: string; className?: string }) {
  return (
    <span className={`flex gap-1 ${className}`}>
      {keys.split(" ").map((key, index) => (
        <kbd key={index} className="rounded border border-line px-1.5 text-muted">
          {key}
        </kbd>
      ))}
    </span>
  );
}
