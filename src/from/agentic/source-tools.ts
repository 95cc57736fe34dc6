import { isJsonObject, setOwn, type JsonSchema, type JsonObject } from "../../schema/json.ts";
import type { Callable } from "./action-book.ts";
import { toId } from "../names.ts";
import type { FoundLink } from "./service-tree.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { Seen } from "./state-book.ts";
import { toStateJson } from "./state-json.ts";

const linksSchema: JsonSchema = {
  type: "object",
  properties: {
    links: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "What the names of its actions begin with, where they are tools" },
          target: { type: "string", description: "How the service calls itself that it leads to" },
          cycleTo: {
            type: "string",
            description: 'The path of that service, where it leads back to it; "": the first one',
          },
        },
        required: ["path"],
        additionalProperties: false,
      },
    },
  },
  required: ["links"],
  additionalProperties: false,
};

/** Creates the tool that lists the links between services, cycles included. @param links - returns the present links. */
export function createLinksTool(links: () => readonly FoundLink[]): Callable {
  return {
    operation: Object.freeze({
      name: "list_links",
      type: "query",
      description: "Where the links between services lead just now.",
      outputSchema: linksSchema,
    }),
    run: () => ({
      links: links().map(({ keys, target, cycleTo }) => ({
        path: toId(keys),
        ...(target === undefined ? {} : { target }),
        ...(cycleTo === undefined ? {} : { cycleTo: toId(cycleTo) }),
      })),
    }),
  };
}

/** A key of the answer. The key of a state has a `%` only in `%25` and `%2E`. */
const unreadableKey = "%unreadable";

const maxKeys = 1000;
const maxShownBytes = 128;

function find(states: ReadonlyMap<string, Seen>, key: string): Seen {
  const seen = states.get(key);
  if (seen !== undefined) return seen;
  throw new Refusal("UNKNOWN_STATE", `there is no state "${clipText(key, maxShownBytes)}"`);
}

function keysOf(input: unknown): readonly string[] | undefined {
  const keys = isJsonObject(input) ? input["keys"] : undefined;
  return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : undefined;
}

/** Says why a state is missing, without text of the state's own: the details go to the log. */
function reasonOf(cause: unknown): string {
  const isNoJson = cause instanceof SurfaceError && cause.code === "UNSERIALISABLE";
  return isNoJson ? "it holds a value that JSON cannot represent" : "it cannot be read";
}

/**
 * Creates the tool that answers the states that are there now: all of them, or those under the given keys.
 *
 * @param states - returns the states that can be seen.
 * @param fail - receives the reason why a state cannot be written.
 */
export function createStateTool(states: () => ReadonlyMap<string, Seen>, fail: (cause: unknown) => void): Callable {
  async function write(wanted: ReadonlyMap<string, Seen>): Promise<JsonObject> {
    const answer: JsonObject = {};
    const unreadable: JsonObject = {};
    const written = Array.from(wanted, async ([key, { value, schema }]) => {
      // The key keeps its place while a Blob is read.
      setOwn(answer, key, null);
      try {
        setOwn(answer, key, await toStateJson(value, schema));
      } catch (cause) {
        fail(cause);
        Reflect.deleteProperty(answer, key);
        setOwn(unreadable, key, reasonOf(cause));
      }
    });
    await Promise.all(written);
    return Object.keys(unreadable).length === 0 ? answer : { ...answer, [unreadableKey]: unreadable };
  }
  return {
    operation: Object.freeze({
      name: "get_state",
      type: "query",
      description: `The states that are there now, by key. "${unreadableKey}" names those that cannot be shown, with the reason.`,
      inputSchema: {
        type: "object",
        properties: {
          keys: {
            type: "array",
            items: { type: "string" },
            maxItems: maxKeys,
            description: "Which ones. Default: all of them",
          },
        },
        additionalProperties: false,
      },
    }),
    run(input) {
      const [keys, now] = [keysOf(input), states()];
      return write(keys === undefined ? now : new Map(keys.map((key) => [key, find(now, key)])));
    },
  };
}
