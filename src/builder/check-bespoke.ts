import { SurfaceError } from "../errors.ts";
import { isSchema, whyNoSchema } from "../schema/standard.ts";

function assertHandled(origin: string, entry: unknown, schemas: readonly string[]): void {
  if (typeof entry !== "object" || entry === null || !("handler" in entry) || typeof entry.handler !== "function") {
    throw new SurfaceError("MISSING_HANDLER", `Adding ${origin}: its handler must be a function`);
  }
  for (const side of schemas) {
    const schema: unknown = Reflect.get(entry, side);
    if (schema === undefined || isSchema(schema)) continue;
    throw new SurfaceError("INVALID_OPTION", `Adding ${origin}: its "${side}": ${whyNoSchema(schema)}`);
  }
}

/**
 * Refuses a bespoke tool that the compiler would have refused, for callers who cast, where it is added and not later
 * where it is opened.
 *
 * @throws SurfaceError `MISSING_HANDLER` without a function, `INVALID_OPTION` when `input` or `output` is no Standard
 * Schema.
 */
export function assertBespokeTool(name: string, tool: unknown): void {
  assertHandled(`tool "${name}"`, tool, ["input", "output"]);
}

/** The same of a prompt. @throws SurfaceError `MISSING_HANDLER`, `INVALID_OPTION`. */
export function assertBespokePrompt(name: string, prompt: unknown): void {
  assertHandled(`prompt "${name}"`, prompt, ["input"]);
}
