import { errorMetaKey, staleMetaKey } from "../../src/index.ts";
import type { Answer } from "./history.ts";
import { now } from "./now.ts";
import type { Stamp } from "./surface.ts";

type Json = Readonly<Record<string, unknown>>;

function isStamp(value: unknown): value is Stamp {
  return typeof value === "object" && value !== null && "gen" in value && "n" in value;
}

/** The text of a resource; `undefined` for what is none. */
export function textOf(result: Json | undefined): string | undefined {
  // The only content that there is.
  const [content] = (result?.["contents"] ?? []) as readonly { readonly text?: string }[];
  return content?.text;
}

/** Whether a resource, or the tool that reads one, says that something newer may be missing. */
function isStale(result: Json): boolean {
  // As above; read_resource has it beside the value.
  const [content] = (result["contents"] ?? []) as readonly Json[];
  const { meta } = (result["structuredContent"] ?? {}) as Json;
  const told = (content?.["_meta"] ?? meta ?? {}) as Json;
  return told[staleMetaKey] !== undefined;
}

/** The stamp in a tool's result, or in a resource's text; `undefined` for one that is stale, and claims nothing. */
function stampOf(result: Json): Stamp | undefined {
  if (isStale(result)) return undefined;
  const text = textOf(result);
  // Known by its members, where there is one.
  const told = (text === undefined ? result["structuredContent"] : JSON.parse(text)) as unknown;
  if (isStamp(told)) return told;
  // As above; read_resource wraps it.
  const { value } = (told ?? {}) as { value?: unknown };
  return isStamp(value) ? value : undefined;
}

/** What a refused call was refused with. */
function refusalOf({ _meta: meta }: Json): string {
  // Our own servers say so there.
  const { code } = ((meta as Json | undefined)?.[errorMetaKey] ?? {}) as { code?: string };
  return code ?? "an error without a code";
}

/** Reads a response: a message with an id. */
export function toAnswer({ result, error }: Json): Answer {
  const at = now();
  if (error !== undefined) {
    // JSON-RPC says what is in it.
    const { code, data } = error as { code: number; data?: { code?: string } };
    return { at, outcome: data?.code ?? String(code) };
  }
  // As above.
  const given = result as Json;
  if (given["isError"] === true) return { at, outcome: refusalOf(given), result: given };
  return { at, outcome: "ok", stamp: stampOf(given), result: given };
}
