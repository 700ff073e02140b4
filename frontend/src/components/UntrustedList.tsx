/** A titled list of texts that others wrote. */
import { plainLines } from "@/lib/text/ansi";

export function UntrustedList({ title, items }: { title: string; items: readonly string[] }) {
  return (
    <div>
      <p className="font-medium">{title}</p>
      <ul className="list-disc pl-5">
        {items.map((each, index) => (
          <li key={index} className="theirs">
            {plainLines(each)}
          </li>
        ))}
      </ul>
    </div>
  );
}
