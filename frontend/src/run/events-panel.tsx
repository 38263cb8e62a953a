import { useDeferredValue, useMemo, useState } from "react";
import type { LoggedEvent } from "../api/types.ts";
import { Code } from "../components/code.tsx";
import { Field } from "../components/field.tsx";
import { VirtualList } from "../components/virtual-list.tsx";
import { t } from "../strings/index.ts";
import { visible } from "./words.ts";

const ROW_PX = 28;

/** The log itself, raw. */
export function EventsPanel({ events }: { events: readonly LoggedEvent[] }) {
  const [filter, setFilter] = useState("");
  const [selected, setSelected] = useState<number | null>(null);
  const wanted = useDeferredValue(filter.trim().toLowerCase());
  const shown = useMemo(() => {
    if (!wanted) return events;
    return events.filter((event) => JSON.stringify(event).toLowerCase().includes(wanted));
  }, [events, wanted]);
  const detail = selected === null ? undefined : events.find((event) => event.seq === selected);
  return (
    <div className="events">
      <Field
        label={t("events.filter")}
        type="search"
        value={filter}
        onChange={(change) => setFilter(change.target.value)}
        hint={t("events.count", { n: shown.length, all: events.length })}
      />
      <VirtualList
        label={t("inspector.events")}
        className="events-list"
        items={shown}
        heightOf={rowHeight}
        keyOf={keyOf}
        render={(event) => (
          <button
            type="button"
            className="event-row"
            aria-pressed={event.seq === selected}
            onClick={() => setSelected(event.seq === selected ? null : event.seq)}
          >
            <span className="event-seq">{event.seq}</span>
            <span className="event-type">{event.type}</span>
            <span className="event-gist">{gist(event)}</span>
          </button>
        )}
      />
      {detail && (
        <Code
          key={detail.seq}
          label={t("events.detail", { seq: detail.seq, type: detail.type })}
          text={JSON.stringify(detail, null, 2)}
        />
      )}
    </div>
  );
}

const rowHeight = () => ROW_PX;
const keyOf = (event: LoggedEvent) => String(event.seq);

/** A few words of the event's own fields. */
function gist(event: LoggedEvent): string {
  const { seq: _seq, run_id: _run, at: _at, type: _type, ...fields } = event;
  return visible(JSON.stringify(fields).slice(1, 120));
}
