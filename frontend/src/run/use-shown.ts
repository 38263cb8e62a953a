import { useEffect, useState } from "react";

/** All of `items` that were ever among them, in the order in which they came: what was decided stays
 * where it stood, with what became of it, until its screen is left. */
export function useShown<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const [shown, setShown] = useState<readonly Item[]>([]);
  useEffect(() => {
    setShown((before) => {
      const known = new Set(before.map(keyOf));
      const fresh = items.filter((item) => !known.has(keyOf(item)));
      return fresh.length > 0 ? [...before, ...fresh] : before;
    });
  }, [items, keyOf]);
  return shown;
}
