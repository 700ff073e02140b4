/** A button for what needs a role. Without the role it stays focusable, does nothing, and says why. */
import { type ComponentProps, useId, useState } from "react";

import { type Role, useObstacle } from "@/lib/queries/me";

import { Button } from "./Button";

interface Props extends ComponentProps<typeof Button> {
  /** The role that the action needs. */
  needs: Role;
}

export function Allowed({ needs, onClick, children, className = "", ...rest }: Props) {
  const obstacle = useObstacle(needs);
  const reason = useId();
  const [isAsked, setAsked] = useState(false);
  if (!obstacle) {
    return (
      <Button {...rest} className={className} onClick={onClick}>
        {children}
      </Button>
    );
  }
  return (
    <>
      <Button
        {...rest}
        type="button"
        className={`${className} cursor-not-allowed opacity-60`}
        aria-disabled
        aria-describedby={reason}
        title={obstacle}
        onClick={() => setAsked(true)}
      >
        {children}
      </Button>
      <span id={reason} role="status" className={isAsked ? "theirs text-muted" : "sr-only"}>
        {obstacle}
      </span>
    </>
  );
}
