import { type ReactNode, useId } from "react";

interface Properties {
  title: ReactNode;
  aside?: ReactNode;
  children?: ReactNode;
}

export function Card({ title, aside, children }: Properties) {
  const heading = useId();
  return (
    <section className="card" aria-labelledby={heading}>
      <div className="card-head">
        <h2 id={heading}>{title}</h2>
        {aside && <div className="card-aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}
