import { Refusal, SurfaceError } from "../../errors.ts";
import { clipText } from "../../schema/visible-text.ts";
import { isJsonObject, setOwn } from "../../schema/json.ts";
import type { JsonObject } from "../../schema/json.ts";
import type { Callable } from "./action-book.ts";
import type { Seen } from "./state-book.ts";
import { toStateJson } from "./state-json.ts";

/** Name of the tool that answers the current states. */
export const stateToolName = "get_state";

/** Key in the answer beside those of states, none of which has a `%` but in `%25` and `%2E`. */
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
      name: stateToolName,
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
