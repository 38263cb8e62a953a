import type { ReactNode } from "react";
import { t } from "../strings/index.ts";
import { hostOf, safeUrl } from "./safe-url.ts";

interface Properties {
  href: string | undefined;
  children: ReactNode;
}

/** Says where it goes before it goes there; anything but a web or mail address stays text. */
export function ExternalLink({ href, children }: Properties) {
  const url = safeUrl(href);
  if (!url) return <span className="link-dead">{children}</span>;
  return (
    <a
      className="link-out"
      href={url.href}
      target="_blank"
      rel="noreferrer noopener nofollow"
      title={url.href}
    >
      {children} <span className="link-host">{t("link.host", { host: hostOf(url) })}</span>
    </a>
  );
}
