/** A remark on one line: being written, or as it was sent. */
import { Trash2 } from "lucide-react";
import { useEffect, useRef } from "react";

import { Button } from "@/components/Button";
import { UntrustedText } from "@/components/UntrustedText";
import type { LineComment } from "@/lib/diff/comments";

import type { CommentActions } from "./comment-actions";

const LONGEST = 4000;

export function CommentBox({ comment, actions }: { comment: LineComment; actions: CommentActions | null }) {
  const { path, line, body } = comment;
  const box = useRef<HTMLTextAreaElement>(null);
  const isNew = useRef(body === "");
  useEffect(() => {
    if (isNew.current) box.current?.focus();
  }, []);
  if (!actions) {
    return (
      <div className="border-y border-line bg-highlight px-3 py-2">
        <UntrustedText text={body} className="theirs" />
      </div>
    );
  }
  return (
    <div className="flex items-start gap-2 border-y border-line bg-sunken p-2 font-sans">
      <textarea
        ref={box}
        value={body}
        maxLength={LONGEST}
        rows={Math.min(8, body.split("\n").length + 1)}
        aria-label={`Comment on line ${line} of ${path}`}
        placeholder="Sent to the next attempt with your decision. Press Esc to leave the field."
        className="field flex-1"
        onChange={(event) => actions.write(path, line, event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        onBlur={() => body.trim() === "" && actions.remove(path, line)}
      />
      <Button
        weight="quiet"
        aria-label={`Remove the comment on line ${line}`}
        onClick={() => actions.remove(path, line)}
      >
        <Trash2 aria-hidden size={16} />
      </Button>
    </div>
  );
}
