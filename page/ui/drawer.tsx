import type { ComponentChildren, JSX } from "preact";
import { toLabel } from "../text/visible.ts";
import { Short, Text } from "./text.tsx";

interface DrawerProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

const closeLabel = "Close details";

/** Takes the focus, and gives it back when the drawer closes. */
function takeFocus(drawer: HTMLElement | null): () => void {
  const before = document.activeElement;
  drawer?.focus({ preventScroll: true });
  return () => before instanceof HTMLElement && before.focus({ preventScroll: true });
}

/** Closes the drawer by Escape, wherever the focus is. */
export function closeOnEscape({ key }: KeyboardEvent): void {
  if (key === "Escape") document.querySelector<HTMLElement>(`[aria-label="${closeLabel}"]`)?.click();
}

/** Shows details beside the panel. */
export function Drawer({ title, close, children }: DrawerProps): JSX.Element {
  return (
    <div class="drawer" role="dialog" aria-label={toLabel(title)} tabIndex={-1} ref={takeFocus}>
      <header class="line">
        <h2 class="line">
          <Short code value={title} />
        </h2>
        <button class="quiet end" aria-label={closeLabel} onClick={close}>
          ✕
        </button>
      </header>
      <div class="drawer-body" role="region" aria-label="Details" tabIndex={0}>
        {children}
      </div>
    </div>
  );
}

interface FieldsProps {
  /** The class of the list. */
  readonly kind?: string;
  readonly fields: readonly (readonly [string, ComponentChildren])[];
}

/** A list of names and values. Fields without a value are left out. */
export function Fields({ kind = "fields", fields }: FieldsProps): JSX.Element {
  return (
    <dl class={kind}>
      {fields
        .filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{typeof value === "string" ? <Text value={value} /> : value}</dd>
          </div>
        ))}
    </dl>
  );
}
