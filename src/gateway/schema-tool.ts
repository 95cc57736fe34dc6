import type { ToolEntry } from "../catalog/entry.ts";
import { Refusal } from "../errors.ts";
import { deepFreeze } from "../schema/json.ts";
import type { JsonObject } from "../schema/json.ts";
import { schemasOf, type OperationSchemas } from "./describe-operation.ts";
import { findOperation, toNotFound } from "./find-operation.ts";
import { toGatewayEntry, type GatewayDeps } from "./gateway-entry.ts";
import { misfit, readText } from "./read-argument.ts";

const input = deepFreeze({
  type: "object",
  properties: { tool: { type: "string", description: "The operation's id" } },
  required: ["tool"],
});

const output = deepFreeze({
  type: "object",
  properties: { inputSchema: { type: "object" }, outputSchema: { type: "object" }, errorSchemas: { type: "object" } },
  required: ["inputSchema"],
});

const description =
  "Get the JSON Schemas of one operation before you first call it: of its input, of its output, and of the details of its errors, " +
  "by their code.";

function decode(args: JsonObject): string {
  const what = "the id of an operation";
  const tool = readText(args, "tool", what);
  if (tool === undefined) throw misfit("tool", `expected ${what}, a string`);
  return tool;
}

/** The tool of a gateway that tells what an operation takes and answers. */
export function createSchemaTool(parts: GatewayDeps): ToolEntry {
  return toGatewayEntry<string, OperationSchemas>(
    {
      name: "schema",
      title: "Get an operation's schemas",
      description,
      input,
      output,
      decode,
      async run(tool, { caller }) {
        const entry = findOperation(parts, { tool, caller });
        if (entry !== undefined) return schemasOf(entry);
        const { code, message } = await toNotFound(parts, { tool, caller });
        throw new Refusal(code, message);
      },
      stringify: (schemas) => JSON.stringify(schemas),
    },
    parts,
  );
}
