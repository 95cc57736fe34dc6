import { isJsonObject, setOwn, type JsonSchema, type JsonObject } from "../../schema/json.ts";
import type { Callable } from "./action-registry.ts";
import { toId } from "../names.ts";
import type { FoundLink } from "./service-tree.ts";
import { Refusal, SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import type { Seen } from "./state-registry.ts";
import { toStateJson } from "./state-json.ts";

const linksSchema: JsonSchema = {
  type: "object",
  properties: {
    links: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "The beginning of the tool names of its actions" },
          target: { type: "string", description: "The name of the linked service" },
          cycleTo: {
            type: "string",
            description: 'The path of the linked service, if the link leads back; "" is the first service',
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
      description: "The present links between services.",
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

/** A key of the result that no state can have: their keys have a `%` only in `%25` and `%2E`. */
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

/** Returns the reason why a state is missing, without the message of the error: the details go to the log. */
function reasonOf(cause: unknown): string {
  const isNoJson = cause instanceof SurfaceError && cause.code === "UNSERIALISABLE";
  return isNoJson ? "it holds a value that JSON cannot represent" : "it cannot be read";
}

/**
 * Creates the tool that returns the present states: all of them, or those under the given keys.
 *
 * @param states - returns the present states.
 * @param fail - receives the errors of states that cannot be written.
 */
export function createStateTool(states: () => ReadonlyMap<string, Seen>, fail: (cause: unknown) => void): Callable {
  async function write(wanted: ReadonlyMap<string, Seen>): Promise<JsonObject> {
    const answer: JsonObject = {};
    const unreadable: JsonObject = {};
    const written = Array.from(wanted, async ([key, { value, schema }]) => {
      // Keeps the order of keys while a Blob is read.
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
      description: `The present states, by key. "${unreadableKey}" names those that cannot be read, with the reason.`,
      inputSchema: {
        type: "object",
        properties: {
          keys: {
            type: "array",
            items: { type: "string" },
            maxItems: maxKeys,
            description: "The keys of the states to return. Default: all of them",
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
