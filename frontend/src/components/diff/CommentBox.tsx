/** A remark on lines: being written, or as it was sent. */
import { Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { Button } from "@/components/Button";
import { UntrustedText } from "@/components/UntrustedText";
import { type LineComment, placeText, withSuggestion } from "@/lib/diff/comments";

import type { CommentActions } from "./comment-actions";

const LONGEST = 4000;

interface Props {
  comment: LineComment;
  actions: CommentActions | null;
  /** The text of the lines of the same side that are on the page. */
  codeOf: (first: number, last: number) => string;
}

export function CommentBox({ comment, actions, codeOf }: Props) {
  const { path, line, body, start_line: start } = comment;
  const at = { path, line, side: comment.side ?? "new" };
  const box = useRef<HTMLTextAreaElement>(null);
  const isNew = useRef(body === "");
  useEffect(() => {
    if (isNew.current) box.current?.focus();
  }, []);
  const where = at.side === "old" ? `removed line ${line}` : `line ${line}`;
  if (!actions) {
    return (
      <div className="border-y border-line bg-highlight px-3 py-2">
        {(start ?? line) < line && <p className="mono text-muted">{placeText(comment)}</p>}
        <UntrustedText text={body} className="theirs" />
      </div>
    );
  }
  function suggest(): void {
    const code = codeOf(start ?? line, line);
    actions?.write(at, withSuggestion(body, code).slice(0, LONGEST));
    box.current?.focus();
  }
  return (
    <div className="flex flex-col gap-1 border-y border-line bg-sunken p-2 font-sans" data-comment-box>
      <div className="flex items-start gap-2">
        <textarea
          ref={box}
          value={body}
          maxLength={LONGEST}
          rows={Math.min(8, body.split("\n").length + 1)}
          aria-label={`Comment on ${where} of ${path}`}
          placeholder="Sent to the next attempt with your decision. Press Esc to leave the field."
          className="field flex-1"
          onChange={(event) => actions.write(at, event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          onBlur={(event) => {
            const stays = event.currentTarget.closest("[data-comment-box]")?.contains(event.relatedTarget);
            if (body.trim() === "" && !stays) actions.remove(at);
          }}
        />
        <Button
          weight="quiet"
          aria-label={`Remove the comment on ${where}`}
          onClick={() => actions.remove(at)}
        >
          <Trash2 aria-hidden size={16} />
        </Button>
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <label className="flex items-center gap-2 whitespace-nowrap">
          From line
          <FirstLine first={start ?? line} last={line} onChange={(first) => actions.begin(at, first)} />
          to {line}
        </label>
        {at.side === "new" && <Button onClick={suggest}>Suggest a change</Button>}
      </div>
    </div>
  );
}

interface FirstLineProps {
  first: number;
  last: number;
  onChange: (first: number) => void;
}

/** What is being typed is kept here: half a number is another line. It counts once the field is left. */
function FirstLine({ first, last, onChange }: FirstLineProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      type="number"
      className="field max-w-24"
      min={1}
      max={last}
      value={typed ?? first}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      onBlur={() => {
        if (typed !== null) onChange(typed === "" ? last : Number(typed));
        setTyped(null);
      }}
    />
  );
}
