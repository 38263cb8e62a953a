import type { ButtonHTMLAttributes } from "react";

interface Properties extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: "plain" | "primary" | "quiet" | "danger";
  small?: boolean;
}

export function Button({ kind = "plain", small, className, ...rest }: Properties) {
  const classes = ["button", `button-${kind}`, small && "button-small", className];
  return <button type="button" className={classes.filter(Boolean).join(" ")} {...rest} />;
}
