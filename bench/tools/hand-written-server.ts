import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { createRows } from "./create-rows.ts";
import { bigInput, bigOutput, bumpOutput, createGeneratedInput, echoShape } from "./tool-schemas.ts";
import { generatedWords, words } from "./tool-words.ts";

/** Told whether the counter is watched from now on. */
type WatchListener = (isWatched: boolean) => void;

interface HandTool {
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  readonly mutates: boolean;
  readonly run: (args: unknown) => Record<string, unknown>;
}

const counterUri = "surface://bench/counter";
const rows = createRows();

function createTools(change: () => number): Map<string, HandTool> {
  const big: HandTool = {
    description: words.big,
    input: bigInput,
    output: bigOutput,
    mutates: false,
    run: (args) => ({ query: bigInput.parse(args).query.text, rows }),
  };
  const bump: HandTool = {
    description: words.bump,
    input: z.object({}),
    output: bumpOutput,
    mutates: true,
    run: () => ({ counter: change() }),
  };
  const echo: HandTool = {
    description: words.echo,
    input: echoShape,
    output: echoShape,
    mutates: false,
    run: (args) => ({ text: echoShape.parse(args).text }),
  };
  return new Map([
    ["big", big],
    ["bump", bump],
    ["echo", echo],
  ]);
}

function addGenerated(tools: Map<string, HandTool>, count: number): void {
  for (let index = 0; index < count; index += 1) {
    const { name, description } = generatedWords(index);
    const input = createGeneratedInput();
    const run: HandTool["run"] = (args) => ({ text: input.parse(args).id });
    tools.set(name, { description, input, output: echoShape, mutates: false, run });
  }
}

/** A schema as the SDK's types want it: an object at its root. */
function toObjectSchema(schema: z.ZodObject, io: "input" | "output"): { type: "object"; [key: string]: unknown } {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io });
  return { ...json, type: "object" };
}

type Listed = ReturnType<typeof toListed>;

function toListed([name, { description, input, output, mutates }]: [string, HandTool]) {
  return {
    name,
    description,
    inputSchema: toObjectSchema(input, "input"),
    outputSchema: toObjectSchema(output, "output"),
    annotations: { readOnlyHint: !mutates, destructiveHint: mutates, idempotentHint: !mutates, openWorldHint: false },
  };
}

/**
 * What the server under test is compared with: the same tools and the same resource, written by hand on the low-level
 * `Server` of the same SDK, as its documentation shows. Arguments are parsed with the same zod schemas; JSON Schema is
 * made from them once; results are `structuredContent` and its text. It does not validate what it answers.
 */
export class HandWritten {
  readonly uri = counterUri;
  /** Tells whoever watches the counter that it has changed; each time, as the SDK's documentation does it. Set by who serves. */
  announce: () => void = () => {};
  readonly #tools: ReadonlyMap<string, HandTool>;
  readonly #listed: Listed[];
  #counter = 0;

  /** @param generated - how many tools to add. */
  constructor(generated = 0) {
    const tools = createTools(() => this.change());
    addGenerated(tools, generated);
    this.#tools = tools;
    this.#listed = [...tools].map(toListed);
  }

  /** Writes the next value of the counter, and returns it. */
  change(): number {
    this.#counter += 1;
    this.announce();
    return this.#counter;
  }

  /**
   * Makes one server, for a connection, a session or a request.
   *
   * @param onWatch - left out where the SDK itself knows who listens to what.
   */
  createServer(onWatch?: WatchListener): Server {
    const capabilities = { tools: {}, resources: { subscribe: true } };
    const server = new Server({ name: "bench", version: "0.0.0" }, { capabilities });
    if (onWatch !== undefined) {
      const follow = (uri: string, isWatched: boolean): Record<never, never> => {
        assertCounter(uri);
        onWatch(isWatched);
        return {};
      };
      server.setRequestHandler("resources/subscribe", ({ params }) => follow(params.uri, true));
      server.setRequestHandler("resources/unsubscribe", ({ params }) => follow(params.uri, false));
    }
    this.#serveTools(server);
    this.#serveResources(server);
    return server;
  }

  #serveTools(server: Server): void {
    server.setRequestHandler("tools/list", () => ({ tools: this.#listed }));
    server.setRequestHandler("tools/call", ({ params }) => {
      const tool = this.#tools.get(params.name);
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool");
      const structuredContent = tool.run(params.arguments);
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    });
  }

  #serveResources(server: Server): void {
    server.setRequestHandler("resources/list", () => ({
      resources: [{ uri: counterUri, name: "counter", description: words.counter, mimeType: "application/json" }],
    }));
    server.setRequestHandler("resources/read", ({ params }) => {
      assertCounter(params.uri);
      return { contents: [{ uri: counterUri, mimeType: "application/json", text: JSON.stringify(this.#counter) }] };
    });
  }
}

function assertCounter(uri: string): void {
  if (uri !== counterUri) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown resource");
}
