import type { ReactNode } from "react";

interface Properties {
  title: string;
  children: ReactNode;
}

/** Nothing here yet: says what to do first. */
export function Empty({ title, children }: Properties) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}
