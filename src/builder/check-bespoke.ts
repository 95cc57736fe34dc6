import { bespokePromptNames } from "../catalog/bespoke-prompt.ts";
import { bespokeToolNames } from "../catalog/bespoke-tool.ts";
import { SurfaceError } from "../errors.ts";
import { isSchema, whyNoSchema } from "../schema/standard.ts";
import { assertKnownOptions } from "../tags/assert-known-options.ts";

/** The fields of an entry: all of them, and those that hold schemas. */
interface Fields {
  readonly known: readonly string[];
  readonly schemas: readonly string[];
}

function assertHandled(origin: string, entry: unknown, { known, schemas }: Fields): void {
  // First: a misspelt field explains the missing one.
  if (typeof entry === "object" && entry !== null) assertKnownOptions(entry, known, `Adding ${origin}`);
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
 * @throws SurfaceError `MISSING_HANDLER` without a function, `INVALID_OPTION` for an unknown field, and when `input` or `output`
 * is no Standard Schema.
 */
export function assertBespokeTool(name: string, tool: unknown): void {
  assertHandled(`tool "${name}"`, tool, { known: bespokeToolNames, schemas: ["input", "output"] });
}

/** The same of a prompt. @throws SurfaceError `MISSING_HANDLER`, `INVALID_OPTION`. */
export function assertBespokePrompt(name: string, prompt: unknown): void {
  assertHandled(`prompt "${name}"`, prompt, { known: bespokePromptNames, schemas: ["input"] });
}
