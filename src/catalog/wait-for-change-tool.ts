import { SurfaceError } from "../errors.ts";
import { deepFreeze } from "../schema/deep-freeze.ts";
import type { JsonObject, JsonValue } from "../schema/json.ts";
import { defaultWaitMs, maxWaitMs } from "../surface/owner/event-owner.ts";
import { defaultOnDisconnect } from "../tags/tool-options.ts";
import type { ChangeRequest, ChangeWaits } from "./change-waits.ts";
import type { Catalog } from "./catalog.ts";
import type { ToolEntry } from "./entry.ts";
import { withHeartbeat } from "./heartbeat.ts";
import { readField, toFieldSchema, type NumberField } from "./number-field.ts";
import { pullOrigin } from "./pull-tool-names.ts";
import { toToolHints } from "./tool-hints.ts";

/** How many resources one call waits for. */
const maxUris = 64;

/** How much longer than its longest wait a call may take before it is a fault, in milliseconds. */
const slackMs = 5000;

const longestWait: NumberField = {
  name: "timeout_ms",
  minimum: 0,
  maximum: maxWaitMs,
  default: defaultWaitMs,
  description: "Answer timed_out after this many milliseconds",
};

const inputSchema = deepFreeze({
  type: "object",
  properties: {
    uris: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: maxUris,
      description: "The resources, with every {variable} filled in",
    },
    since: {
      type: "string",
      description: "The cursor of an earlier answer: wait for what changed after it. Leave out to wait from now on",
    },
    timeout_ms: toFieldSchema(longestWait),
  },
  required: ["uris"],
});

const outputSchema = deepFreeze({
  type: "object",
  properties: {
    status: { type: "string", enum: ["changed", "timed_out"] },
    changed: { type: "array", items: { type: "string" }, description: "The resources that changed: read them again" },
    cursor: { type: "string", description: "Say this as since in the next call and no change in between is lost" },
    reset: { type: "boolean", description: "The cursor was unknown: read the resources, then go on from the new one" },
  },
  required: ["status", "changed", "cursor"],
  additionalProperties: false,
});

const description =
  "Wait until one of these resources changes. changed names those to read again with read_resource; timed_out means " +
  "that none changed so far. Call again with since set to the cursor of the answer to go on without missing a change.";

function refuse(path: string, message: string): SurfaceError {
  return new SurfaceError("VALIDATION_ERROR", `Reading "${path}": it does not fit`, { issues: [{ path, message }] });
}

function own(args: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(args, key) ? args[key] : undefined;
}

function readUris(args: JsonObject): readonly string[] {
  const uris = own(args, "uris");
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > maxUris) {
    throw refuse("uris", `expected a list of 1 to ${maxUris} URIs`);
  }
  return uris.map((uri: JsonValue, index) => {
    if (typeof uri === "string") return uri;
    throw refuse(`uris.${index}`, "expected the URI of a resource, a string");
  });
}

function readSince(args: JsonObject): string | undefined {
  const since = own(args, "since");
  if (since === undefined || typeof since === "string") return since;
  throw refuse("since", "expected the cursor of an earlier answer, a string");
}

function readRequest(args: JsonObject): ChangeRequest {
  return { uris: readUris(args), since: readSince(args), timeoutMs: readField(longestWait, args) };
}

/** The tool that waits until a resource changes, for hosts whose agents never see a notice. */
export function createWaitForChangeTool(waits: ChangeWaits, { scopes }: Pick<Catalog, "scopes">): ToolEntry {
  const name = "wait_for_change";
  return {
    id: name,
    name,
    origin: pullOrigin(name),
    title: "Wait for a change",
    description,
    hints: toToolHints("read", {}),
    scopes: Object.freeze([scopes.read]),
    input: { root: "", json: inputSchema, decode: readRequest },
    output: { json: outputSchema, stringify: (value) => JSON.stringify(value) },
    timeoutMs: longestWait.maximum + slackMs,
    onDisconnect: defaultOnDisconnect,
    owner: "surface",
    // decode() made the request.
    run: (request, call) => withHeartbeat(waits.wait(request as ChangeRequest, call), call),
  };
}
