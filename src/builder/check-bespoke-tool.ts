import { SurfaceError } from "../errors.ts";
import { isSchema } from "../schema/standard.ts";

/**
 * Refuses a bespoke tool that the compiler would have refused, for callers who cast, where it is added and not later
 * where it is opened.
 *
 * @throws SurfaceError `MISSING_HANDLER` without a function, `INVALID_OPTION` when `input` or `output` is no Standard
 * Schema.
 */
export function assertBespokeTool(name: string, tool: unknown): void {
  if (typeof tool !== "object" || tool === null || !("handler" in tool) || typeof tool.handler !== "function") {
    throw new SurfaceError("MISSING_HANDLER", `Adding tool "${name}": its handler must be a function`);
  }
  for (const side of ["input", "output"]) {
    const schema: unknown = Reflect.get(tool, side);
    if (schema === undefined || isSchema(schema)) continue;
    throw new SurfaceError("INVALID_OPTION", `Adding tool "${name}": its "${side}" must be a Standard Schema`);
  }
}
