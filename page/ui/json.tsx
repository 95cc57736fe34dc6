import type { ComponentChildren, JSX } from "preact";
import type { JsonValue } from "../../src/schema/json.ts";
import { formatJson, toJsonTokens } from "../text/json-tokens.ts";
import { keep } from "./kept-state.ts";

interface Formatted {
  readonly text: string;
  readonly parts: ComponentChildren;
}

/** Formats of objects: the page is drawn more often than they change. */
const formats = new WeakMap<object, Formatted>();

function formatOf(value: JsonValue): Formatted {
  // Of a text or number this is a new object, which finds nothing and is not kept.
  const key: object = new Object(value);
  const known = formats.get(key);
  if (known !== undefined) return known;
  const text = formatJson(value);
  const parts = toJsonTokens(text).map(([part, tone]) => (tone === "" ? part : <span class={tone}>{part}</span>));
  const made = { text, parts };
  formats.set(key, made);
  return made;
}

/** Shows a value as formatted JSON that can be copied. */
export function Json({ label, value }: { readonly label: string; readonly value: JsonValue }): JSX.Element {
  const [copied, setCopied] = keep("copied", "");
  const { text, parts } = formatOf(value);
  return (
    <section>
      <header class="line">
        <h3>{label}</h3>
        <button class="quiet end" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}>
          {copied === text ? "Copied" : "Copy"}
        </button>
      </header>
      <pre class="json code" role="region" tabIndex={0} aria-label={label}>
        {parts}
      </pre>
    </section>
  );
}
