// Rehype plugin: `[2]` and `[1, 3]` in running text become <cite-ref n> where the source exists.

import type { Element, ElementContent, Root, Text } from "hast";

const CITATION = /\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]/g;
const LEFT_ALONE = new Set(["code", "pre", "a"]);

export function rehypeCitations(known: ReadonlySet<number>) {
  return () => (tree: Root) => {
    if (known.size > 0) walk(tree, known);
  };
}

function walk(parent: Root | Element, known: ReadonlySet<number>): void {
  const children: (ElementContent | Root["children"][number])[] = [];
  for (const child of parent.children) {
    if (child.type === "text") children.push(...split(child, known));
    else {
      if (child.type === "element" && !LEFT_ALONE.has(child.tagName)) walk(child, known);
      children.push(child);
    }
  }
  parent.children = children as typeof parent.children;
}

function split(node: Text, known: ReadonlySet<number>): ElementContent[] {
  const parts: ElementContent[] = [];
  let from = 0;
  for (const match of node.value.matchAll(CITATION)) {
    const numbers = (match[1] ?? "").split(/[,;]/).map(Number);
    if (!numbers.every((n) => known.has(n))) continue;
    if (match.index > from) parts.push(text(node.value.slice(from, match.index)));
    parts.push(...numbers.map(citation));
    from = match.index + match[0].length;
  }
  if (from === 0) return [node];
  if (from < node.value.length) parts.push(text(node.value.slice(from)));
  return parts;
}

const text = (value: string): Text => ({ type: "text", value });

const citation = (n: number): Element => ({
  type: "element",
  tagName: "cite-ref",
  properties: { n },
  children: [],
});
