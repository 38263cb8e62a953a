// The model's answer. It is untrusted: no HTML, no request, no style of its own.

import { type ComponentProps, memo, type ReactNode, useMemo } from "react";
import Markdown, { type Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { copyText } from "../components/copy.ts";
import { Guard } from "../components/guard.tsx";
import { useToast } from "../components/toast.tsx";
import { visible } from "../run/words.ts";
import { t } from "../strings/index.ts";
import { rehypeCitations } from "./citations.ts";
import { ExternalLink } from "./external-link.tsx";
import { hostOf, safeUrl } from "./safe-url.ts";

const SCHEMA = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !["picture", "source"].includes(name)),
  protocols: { href: ["http", "https", "mailto"], src: ["http", "https"] },
};

interface Properties {
  text: string;
  /** Numbers that a citation may name. */
  known: readonly number[];
  onCite: (n: number) => void;
}

export const Answer = memo(function Answer({ text, known, onCite }: Properties) {
  const knownKey = known.join();
  const plugins = useMemo(
    () => [
      [rehypeSanitize, SCHEMA] as [typeof rehypeSanitize, typeof SCHEMA],
      rehypeCitations(new Set(knownKey ? knownKey.split(",").map(Number) : [])),
    ],
    [knownKey],
  );
  const components = useMemo(() => componentsWith(new Set(known), onCite), [knownKey, onCite]);
  return (
    <div className="answer-text">
      <Guard fallback={() => <p className="answer-plain">{text}</p>}>
        <Markdown
          remarkPlugins={[remarkGfm]}
          rehypePlugins={plugins}
          components={components}
          urlTransform={(url) => (safeUrl(url) ? url : "")}
        >
          {text}
        </Markdown>
      </Guard>
    </div>
  );
});

function componentsWith(known: ReadonlySet<number>, onCite: (n: number) => void): Components {
  const cite = (n: number) => <Citation n={n} onCite={onCite} />;
  const own = {
    "cite-ref": ({ n }: { n?: number | string }) => cite(Number(n)),
    // `[1]: https://…` at an answer's end makes each [1] a link; it is meant as the citation.
    a: ({ href, children }: ComponentProps<"a">) =>
      isNumber(children) && known.has(Number(children)) ? (
        cite(Number(children))
      ) : (
        <ExternalLink href={href}>{children}</ExternalLink>
      ),
    img: ({ src, alt }: ComponentProps<"img">) => (
      <ImageChip src={typeof src === "string" ? src : ""} alt={alt ?? ""} />
    ),
    input: ({ checked }: ComponentProps<"input">) => (
      <span aria-hidden="true">{checked ? "☑" : "☐"}</span>
    ),
    // Headings of an answer stand below the page's own.
    h1: ({ children }: ComponentProps<"h1">) => <h3>{children}</h3>,
    h2: ({ children }: ComponentProps<"h2">) => <h4>{children}</h4>,
    h3: ({ children }: ComponentProps<"h3">) => <h5>{children}</h5>,
    h4: ({ children }: ComponentProps<"h4">) => <h6>{children}</h6>,
    h5: ({ children }: ComponentProps<"h5">) => <h6>{children}</h6>,
    pre: ({ children }: ComponentProps<"pre">) => (
      <pre tabIndex={0} role="group" aria-label={t("answer.code")}>
        {children}
      </pre>
    ),
    table: ({ children }: ComponentProps<"table">) => (
      <div className="table-scroll" tabIndex={0} role="group" aria-label={t("answer.table")}>
        <table>{children}</table>
      </div>
    ),
  };
  return own as Components;
}

function isNumber(children: ReactNode): children is string {
  return typeof children === "string" && /^\d{1,3}$/.test(children);
}

function Citation({ n, onCite }: { n: number; onCite: (n: number) => void }) {
  return (
    <button
      type="button"
      className="citation"
      aria-label={t("citation.open", { n })}
      onClick={() => onCite(n)}
    >
      [{n}]
    </button>
  );
}

/** An image in an answer is a request to somebody's server: its address is shown, never fetched. */
function ImageChip({ src, alt }: { src: string; alt: string }) {
  const say = useToast();
  const url = safeUrl(src);
  const host = url ? hostOf(url) : t("image.nowhere");
  const copy = () =>
    void copyText(src).then((done) => say(t(done ? "image.copied" : "copy.failed")));
  return (
    <button type="button" className="image-chip" title={t("image.title")} onClick={copy}>
      <span aria-hidden="true">▨ </span>
      {t("image.chip", { host, alt: visible(alt).slice(0, 80) })}
    </button>
  );
}
