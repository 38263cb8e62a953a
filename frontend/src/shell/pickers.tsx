import type { KnowledgeList, Model, ModelList } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { Menu } from "../components/menu.tsx";
import { t } from "../strings/index.ts";
import { duration, visible } from "../run/words.ts";
import type { Loaded } from "./use-load.ts";

/** The remembered model while it can be used, else the server's choice, else the first that can. */
export function usableModel(models: ModelList | null, remembered: string | null): string | null {
  const usable = (models?.items ?? []).filter((model) => whyNot(model) === null);
  const ids = usable.map((model) => model.id);
  const wanted = [remembered, models?.default].find((id) => id != null && ids.includes(id));
  return wanted ?? ids[0] ?? null;
}

/** Why a model cannot be chosen; null: it can. */
export function whyNot(model: Model): string | null {
  return model.error;
}

/** Its calls travel as text, since it is known not to take tools or was told so. */
export function inEnvelopes(model: Model): boolean {
  const { configured, found } = model.tool_mode;
  return (configured === "auto" ? found : configured) === "envelope";
}

/** The window that a run surely has, as far as it is known. */
function windowOf({ window: { used, served }, abilities }: Model): number | null {
  if (used === null || served === null) return used ?? served ?? abilities.context_tokens;
  return Math.min(used, served);
}

export function ModelBadges({ model }: { model: Model }) {
  const { tools, thinking } = model.abilities;
  const window = windowOf(model);
  const { write } = model.seconds_per_1000_tokens;
  return (
    <>
      {model.error && (
        <Badge tone="red" glyph="✕">
          {t("model.unreachable")}
        </Badge>
      )}
      {tools === true && (
        <Badge tone="accent" glyph="✓">
          {t("model.tools")}
        </Badge>
      )}
      {tools === false && <Badge glyph="–">{t("model.tools.none")}</Badge>}
      {tools === null && !model.error && <Badge glyph="?">{t("model.tools.unknown")}</Badge>}
      {inEnvelopes(model) && <Badge title={t("model.envelope.text")}>{t("model.envelope")}</Badge>}
      {thinking === true && <Badge>{t("model.thinking")}</Badge>}
      {window !== null && <Badge>{t("model.window", { n: Math.round(window / 1024) })}</Badge>}
      {write !== null && <Badge>{t("model.speed", { time: duration(write * 1000) })}</Badge>}
    </>
  );
}

interface ModelProperties {
  models: Loaded<ModelList>;
  chosen: string | null;
  onChoose: (id: string) => void;
}

export function ModelPicker({ models, chosen, onChoose }: ModelProperties) {
  const items = models.data?.items ?? [];
  const loading = models.data === null && !models.error;
  return (
    <Menu
      label={t("model.pick")}
      value={chosen ? visible(chosen) : t(loading ? "loading" : "model.none")}
      note={t(loading ? "loading" : items.length > 0 ? "model.pick.note" : "model.pick.none")}
      choices={items.map((model) => ({
        id: model.id,
        label: visible(model.id),
        detail: <ModelBadges model={model} />,
        chosen: model.id === chosen,
        ...because(whyNot(model)),
      }))}
      onChoose={onChoose}
    />
  );
}

function because(reason: string | null): { disabledBecause?: string } {
  return reason ? { disabledBecause: reason } : {};
}

interface KnowledgeProperties {
  knowledge: Loaded<KnowledgeList>;
  scope: readonly string[];
  onScope: (scope: readonly string[]) => void;
}

export function KnowledgePicker({ knowledge, scope, onScope }: KnowledgeProperties) {
  const items = knowledge.data?.items ?? [];
  const toggle = (id: string) =>
    onScope(scope.includes(id) ? scope.filter((other) => other !== id) : [...scope, id]);
  const nameOf = (id: string) => visible(items.find((item) => item.id === id)?.name ?? id);
  return (
    <>
      {scope.map((id) => (
        <span key={id} className="chip">
          <span className="chip-name">#{nameOf(id)}</span>
          <button
            type="button"
            aria-label={t("knowledge.drop", { name: nameOf(id) })}
            onClick={() => toggle(id)}
          >
            ×
          </button>
        </span>
      ))}
      <Menu
        several
        label={t("knowledge.pick")}
        value={t("knowledge.pick.value")}
        note={knowledge.error?.message ?? t(noteOn(knowledge.data))}
        choices={items.map((item) => ({
          id: item.id,
          label: `#${visible(item.name)}`,
          detail: (
            <>
              {item.label === "confidential" && <Badge>{t("knowledge.confidential")}</Badge>}
              <span className="menu-figure">{t("count.files", { n: item.files })}</span>
            </>
          ),
          chosen: scope.includes(item.id),
        }))}
        onChoose={toggle}
      />
    </>
  );
}

function noteOn(list: KnowledgeList | null) {
  if (list === null) return "loading" as const;
  return list.items.length === 0 ? ("knowledge.pick.none" as const) : ("knowledge.pick.note" as const);
}
