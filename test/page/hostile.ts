import type { PageExposure, PageSnapshot } from "../../src/inspector/messages.ts";
import { sampleCall, sampleEntry, sampleExposure, sampleRow, sampleSnapshot } from "./samples.ts";

/** Texts that would run, load, or look like something else if a page did more with them than show them. */
export const hostileTexts: readonly string[] = [
  "<script>window.hacked = 1</script>",
  '"><img src=x onerror="window.hacked = 1">',
  "<svg onload=window.hacked=1><a xlink:href='javascript:window.hacked=1'>x</a></svg>",
  "javascript:window.hacked=1",
  "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
  "{{constructor.constructor('window.hacked=1')()}}",
  "__proto__",
  "</title><script>window.hacked=1</script>",
  "data:text/html,<script>opener.hacked=1</script>",
  "url(javascript:window.hacked=1); background: url(//example.com)",
  "\u202Egnp.exe\u2066 \u200B\u0000\u001B[2J\r\n\uD800",
  `${"W".repeat(10_000)} end`,
];

/** Replaces every text that an author, client or caller writes, also inside of lists. */
function poison<T>(value: T, text: string, fixed: ReadonlySet<string>): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    // An array of the same rows.
    return value.map((one) => (typeof one === "string" ? text : poison(one, text, fixed))) as T;
  }
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    typeof one === "string" && !fixed.has(key) ? text : poison(one, text, fixed),
  ]);
  // The same keys.
  return Object.fromEntries(entries) as T;
}

/** Fields whose texts the inspector chooses. */
const fixed = new Set([
  "id",
  "state",
  "kind",
  "outcome",
  "stage",
  "transport",
  "reason",
  "as",
  "face",
  "instance",
  "uri",
]);

/** Makes a snapshot with one text in all fields that others write. */
export function hostileSnapshot(text: string): PageSnapshot {
  const sample = sampleSnapshot({ history: [sampleRow(1, { call: "c", parent: "c" })], seconds: [] });
  const calls = { more: 0, rows: [sampleCall(1, { progress: { done: 1, message: text } })] };
  const snapshot = poison({ ...sample, calls }, text, fixed);
  const [value] = sample.values.rows;
  const values = { more: 0, rows: value === undefined ? [] : [{ ...value, uri: text, value: { [text]: [text] } }] };
  return { ...snapshot, values };
}

/** Makes an exposure with one text in all fields that others write. */
export function hostileExposure(text: string): PageExposure {
  const entry = sampleEntry(0, { confirm: text, shown: [{ hiddenBy: text }], effects: [text] });
  const sample = sampleExposure({ entries: [entry], views: [{ name: text, face: "direct", tools: 1, tokens: 1 }] });
  return poison(sample, text, new Set(["kind", "face"]));
}
