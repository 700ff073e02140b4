/** A button in one of four weights. */
import type { ComponentProps } from "react";

const WEIGHTS = {
  plain: "border-line bg-raised hover:bg-sunken",
  primary: "border-accent bg-accent text-on-accent hover:opacity-90",
  danger: "border-failed text-failed bg-raised hover:bg-removed-tint",
  quiet: "border-transparent hover:bg-sunken",
} as const;

interface Props extends ComponentProps<"button"> {
  weight?: keyof typeof WEIGHTS;
}

const SHAPE = "inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1";

export function buttonClass(weight: keyof typeof WEIGHTS = "plain"): string {
  return `${SHAPE} font-medium no-underline disabled:opacity-60 ${WEIGHTS[weight]}`;
}

export function Button({ weight = "plain", className = "", type = "button", ...rest }: Props) {
  // eslint-disable-next-line react/button-has-type
  return <button type={type} className={`${buttonClass(weight)} ${className}`} {...rest} />;
}
