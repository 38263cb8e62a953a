import { useEffect, useRef } from "react";
import type { Source } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { ExternalLink } from "../markdown/external-link.tsx";
import { t } from "../strings/index.ts";
import { hasEnded, type RunView } from "./view.ts";
import { visible } from "./words.ts";

interface Properties {
  view: RunView;
  highlighted: number | null;
}

/** What the tools showed to the model; what the answer cites stands first. */
export function SourcesPanel({ view, highlighted }: Properties) {
  const ended = hasEnded(view.status);
  const cited = view.sources.filter((source) => source.cited);
  const others = view.sources.filter((source) => !source.cited);
  return (
    <ol className="sources">
      {[...cited, ...others].map((source) => (
        <SourceItem
          key={source.n}
          source={source}
          ended={ended}
          highlighted={source.n === highlighted}
        />
      ))}
    </ol>
  );
}

interface ItemProperties {
  source: Source;
  ended: boolean;
  highlighted: boolean;
}

function SourceItem({ source, ended, highlighted }: ItemProperties) {
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
      {ended && <Support source={source} />}
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
  return <span className="source-note">{t(source.cited ? "source.cited" : "source.seen")}</span>;
}
