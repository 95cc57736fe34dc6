/**
 * What the server under test is compared with: the same tools and the same resource, written by hand on the low-level
 * `Server` of the same SDK, as its documentation shows. Arguments are parsed with the same zod schemas; JSON Schema is
 * made from them once; results are `structuredContent` and its text. It does not validate what it answers.
 */
import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { createRows } from "./tools/create-rows.ts";
import { readOptions } from "./tools/read-options.ts";
import { bigInput, bigOutput, bumpOutput, createGeneratedInput, echoShape } from "./tools/tool-schemas.ts";
import { generatedWords, words } from "./tools/tool-words.ts";

const counterUri = "surface://bench/counter";
const rows = createRows();
let counter = 0;
/** Tells whoever watches the counter that it has changed; each time, as the SDK's documentation does it. */
let announce = (): void => {};

function change(): number {
  counter += 1;
  announce();
  return counter;
}

interface HandTool {
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly mutates: boolean;
  readonly run: (args: unknown) => Record<string, unknown>;
}

const noInput = z.object({});

const tools = new Map<string, HandTool>([
  [
    "big",
    {
      description: words.big,
      input: bigInput,
      output: bigOutput,
      mutates: false,
      run: (args) => ({ query: bigInput.parse(args).query.text, rows }),
    },
  ],
  [
    "bump",
    {
      description: words.bump,
      input: noInput,
      output: bumpOutput,
      mutates: true,
      run: () => ({ counter: change() }),
    },
  ],
  [
    "echo",
    {
      description: words.echo,
      input: echoShape,
      output: echoShape,
      mutates: false,
      run: (args) => ({ text: echoShape.parse(args).text }),
    },
  ],
]);

for (let index = 0; index < readOptions().tools; index += 1) {
  const { name, description } = generatedWords(index);
  const input = createGeneratedInput();
  const run: HandTool["run"] = (args) => ({ text: input.parse(args).id });
  tools.set(name, { description, input, output: echoShape, mutates: false, run });
}

/** A schema as the SDK's types want it: an object at its root. */
function toObjectSchema(schema: z.ZodObject, io: "input" | "output"): { type: "object"; [key: string]: unknown } {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io });
  return { ...json, type: "object" };
}

const listed = [...tools].map(([name, { description, input, output, mutates }]) => ({
  name,
  description,
  inputSchema: toObjectSchema(input, "input"),
  outputSchema: toObjectSchema(output, "output"),
  annotations: { readOnlyHint: !mutates, destructiveHint: mutates, idempotentHint: !mutates, openWorldHint: false },
}));

/** In the modern era the SDK itself knows who listens to what. */
function serveWatchers(server: Server, era: "legacy" | "modern"): void {
  let isWatched = era === "modern";
  const follow = (uri: string, watched: boolean): Record<never, never> => {
    if (uri !== counterUri) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown resource");
    isWatched = watched;
    return {};
  };
  if (era === "legacy") {
    server.setRequestHandler("resources/subscribe", ({ params }) => follow(params.uri, true));
    server.setRequestHandler("resources/unsubscribe", ({ params }) => follow(params.uri, false));
  }
  announce = () => {
    if (isWatched) void server.sendResourceUpdated({ uri: counterUri });
  };
}

function createServer({ era }: { readonly era: "legacy" | "modern" }): Server {
  const capabilities = { tools: {}, resources: { subscribe: true } };
  const server = new Server({ name: "bench", version: "0.0.0" }, { capabilities });
  serveWatchers(server, era);
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = tools.get(params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool");
    const structuredContent = tool.run(params.arguments);
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  });
  server.setRequestHandler("resources/list", () => ({
    resources: [{ uri: counterUri, name: "counter", description: words.counter, mimeType: "application/json" }],
  }));
  server.setRequestHandler("resources/read", ({ params }) => {
    if (params.uri !== counterUri) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown resource");
    return { contents: [{ uri: counterUri, mimeType: "application/json", text: JSON.stringify(counter) }] };
  });
  return server;
}

serveStdio(createServer);
if (process.send !== undefined) (await import("./tools/obey-driver.ts")).obeyDriver(change);
