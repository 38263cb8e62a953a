import { type KeyboardEvent, type ReactNode, type UIEvent, useLayoutEffect, useMemo, useRef, useState } from "react";

interface Properties<Item> {
  label: string;
  items: readonly Item[];
  /** Pixels; known beforehand, so that thousands of rows need no measuring. */
  heightOf: (item: Item) => number;
  keyOf: (item: Item) => string;
  render: (item: Item) => ReactNode;
  onEnd?: () => void;
  className?: string;
}

const OVERSCAN_PX = 200;

/** A scrolling list that holds only the rows in sight. Arrow keys move between their controls. */
export function VirtualList<Item>(properties: Properties<Item>) {
  const { label, items, heightOf, keyOf, render, onEnd, className } = properties;
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const offsets = useMemo(() => {
    const sums = new Float64Array(items.length + 1);
    items.forEach((item, at) => {
      sums[at + 1] = (sums[at] ?? 0) + heightOf(item);
    });
    return sums;
  }, [items, heightOf]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const first = Math.max(0, indexAt(offsets, top - OVERSCAN_PX));
  const last = Math.min(items.length, indexAt(offsets, top + height + OVERSCAN_PX) + 1);
  const onScroll = (event: UIEvent<HTMLDivElement>) => {
    const element = event.currentTarget;
    setTop(element.scrollTop);
    if (element.scrollTop + element.clientHeight > element.scrollHeight - 400) onEnd?.();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const controls = [...event.currentTarget.querySelectorAll<HTMLElement>("a, button")];
    const next = controls[controls.indexOf(document.activeElement as HTMLElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };

  return (
    <div
      ref={scroller}
      className={`virtual ${className ?? ""}`}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div className="virtual-space" style={{ height: offsets[items.length] }}>
        <ul aria-label={label} style={{ transform: `translateY(${offsets[first] ?? 0}px)` }}>
          {items.slice(first, last).map((item, at) => (
            <li
              key={keyOf(item)}
              aria-setsize={items.length}
              aria-posinset={first + at + 1}
              style={{ height: heightOf(item) }}
            >
              {render(item)}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Index of the row that covers `y`. */
function indexAt(offsets: Float64Array, y: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
