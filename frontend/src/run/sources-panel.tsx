import { useEffect, useRef } from "react";
import type { Source } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { ExternalLink } from "../markdown/external-link.tsx";
import { t } from "../strings/index.ts";
import { addressOf, usePagesRead } from "./read-pages.ts";
import { hasEnded, type RunView } from "./view.ts";
import { visible } from "./words.ts";

interface Properties {
  view: RunView;
  highlighted: number | null;
}

/** What the tools showed to the model; what the answer cites stands first. */
export function SourcesPanel({ view, highlighted }: Properties) {
  const ended = hasEnded(view.status);
  const pages = usePagesRead(view);
  const cited = view.sources.filter((source) => source.cited);
  const others = view.sources.filter((source) => !source.cited);
  return (
    <ol className="sources">
      {[...cited, ...others].map((source) => (
        <SourceItem
          key={source.n}
          source={source}
          ended={ended}
          isRead={source.kind === "web" && pages ? pages.has(addressOf(source.url ?? "")) : null}
          highlighted={source.n === highlighted}
        />
      ))}
    </ol>
  );
}

interface ItemProperties {
  source: Source;
  ended: boolean;
  /** null: not known, or no web page. */
  isRead: boolean | null;
  highlighted: boolean;
}

function SourceItem({ source, ended, isRead, highlighted }: ItemProperties) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!highlighted) return;
    item.current?.scrollIntoView({ block: "nearest" });
    item.current?.focus({ preventScroll: true });
  }, [highlighted]);
  const title = visible(source.title);
  return (
    <li
      ref={item}
      id={`source-${source.n}`}
      tabIndex={-1}
      className={`source ${highlighted ? "source-lit" : ""}`}
      aria-current={highlighted ? "true" : undefined}
    >
      <p className="source-head">
        <span className="source-number">[{source.n}]</span>{" "}
        <bdi className="source-title">
          {source.kind === "web" && source.url ? (
            <ExternalLink href={source.url}>{title}</ExternalLink>
          ) : (
            title
          )}
        </bdi>
      </p>
      {source.quote && <blockquote>{source.quote}</blockquote>}
      <p className="source-state">
        {isRead !== null && (
          <span className="source-note">{t(isRead ? "source.read" : "source.not_read")}</span>
        )}
        {ended && <Support source={source} />}
      </p>
    </li>
  );
}

function Support({ source }: { source: Source }) {
  if (source.supported === true) return <Badge glyph="✓">{t("source.supported")}</Badge>;
  if (source.supported === false) {
    return (
      <Badge tone="red" glyph="✕">
        {t("source.unsupported")}
      </Badge>
    );
  }
  const uncited = source.kind === "web" ? "source.uncited" : "source.seen";
  return <span className="source-note">{t(source.cited ? "source.cited" : uncited)}</span>;
}
