import { Refusal } from "../../errors.ts";
import { clipText } from "../../schema/clip-text.ts";
import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { setOwn } from "../../schema/set-own.ts";
import { anyCodec } from "../../schema/wire-codec.ts";
import type { Callable } from "./action-book.ts";
import type { Seen } from "./state-book.ts";

/** How the tool is called that says what states are now. */
export const stateToolName = "get_state";

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

/**
 * A tool that answers what states are now: those that are asked for, or all.
 *
 * @param states - those that can be seen when it is called.
 * @param fail - told of values that are no JSON: an answer of all states does without them.
 */
export function createStateTool(states: () => ReadonlyMap<string, Seen>, fail: (cause: unknown) => void): Callable {
  function all(): JsonObject {
    const answer: JsonObject = {};
    for (const [key, { value }] of states()) {
      try {
        setOwn(answer, key, anyCodec.encode(value));
      } catch (cause) {
        fail(cause);
      }
    }
    return answer;
  }
  function some(keys: readonly string[]): JsonObject {
    const now = states();
    const answer: JsonObject = {};
    for (const key of keys) setOwn(answer, key, anyCodec.encode(find(now, key).value));
    return answer;
  }
  return {
    operation: Object.freeze({
      name: stateToolName,
      type: "query",
      description: "What the states are just now, by key. Not every state is there all the time.",
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
      const keys = keysOf(input);
      return keys === undefined ? all() : some(keys);
    },
  };
}
