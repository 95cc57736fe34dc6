import { anonymous } from "../../src/surface/caller.ts";
import { defineSurface, mcp } from "../../src/index.ts";
import { createTestClient } from "../../src/testing/index.ts";
import { createOperations } from "./create-operations.ts";

/** One way to ask an app: by one of its views. */
export interface Asker {
  /** What `tools/list` answers, as text: over all pages, the items of one list. */
  list(): Promise<string>;
  /** Calls a tool, and gives the text that a model reads. */
  call(name: string, args: object): Promise<string>;
}

/** An app over mounted operations, and whom it is asked by. Whoever opened it closes it. */
export interface OpenGateway {
  /** Everything as it is, by an app without views. */
  readonly direct: Asker;
  /** The same by a view that hides some of it. */
  readonly narrowed: Asker;
  /** The same behind four tools. */
  readonly gateway: Asker;
  close(): Promise<void>;
}

type Client = Pick<ReturnType<typeof createTestClient>, "request" | "close">;

function toAsker(client: Client, surface?: string): Asker {
  const options = surface === undefined ? {} : { caller: { ...anonymous, view: { surface } } };
  return {
    async list() {
      const tools: unknown[] = [];
      let cursor: unknown;
      do {
        const page = await client.request("tools/list", typeof cursor === "string" ? { cursor } : {}, options);
        if (Array.isArray(page["tools"])) tools.push(...page["tools"]);
        cursor = page["nextCursor"];
      } while (cursor !== undefined);
      return JSON.stringify({ tools });
    },
    async call(name, args) {
      const answer = await client.request("tools/call", { name, arguments: { ...args } }, options);
      const [block]: readonly unknown[] = Array.isArray(answer["content"]) ? answer["content"] : [];
      const text: unknown = typeof block === "object" && block !== null ? Reflect.get(block, "text") : undefined;
      if (answer["isError"] === true || typeof text !== "string") throw new TypeError(`${name} failed`);
      return text;
    },
  };
}

/** Opens an app over so many operations, in this process. */
export function openGateway(count: number): OpenGateway {
  const surface = defineSurface("bench", {});
  const plain = mcp(surface).implement({}).mount("hub", createOperations(count));
  const viewed = plain.views({
    hub: { face: "gateway" },
    narrowed: { disallow: ["*.delete_*", "hub.legal.*", "*_lock_?"] },
  });
  const [direct, views] = [createTestClient(plain), createTestClient(viewed)];
  return {
    direct: toAsker(direct),
    narrowed: toAsker(views, "narrowed"),
    gateway: toAsker(views, "hub"),
    async close() {
      await Promise.all([direct.close(), views.close()]);
    },
  };
}
