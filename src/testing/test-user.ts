import type { Elicited, Root, SampleRequest } from "../catalog/asking/asking.ts";
import { SurfaceError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../schema/json.ts";

/** A form, as the user is shown it. */
export interface TestForm {
  readonly message: string;
  /** The JSON Schema of the fields. */
  readonly requestedSchema: JsonObject;
}

/** The reply to a form: `true` agrees and fills in nothing, `false` declines. */
export type TestReply = boolean | Elicited<JsonObject>;

/** The user and the model of a test client. Without a function the client lacks the capability. */
export interface TestUserOptions {
  /** Replies to forms, and to confirmations. A confirmation by a typed word has it in the field `confirm`. */
  readonly elicit?: (form: TestForm) => TestReply | PromiseLike<TestReply>;
  /** Writes the text of the client's model, or a whole result of `sampling/createMessage`. */
  readonly sample?: (
    request: Omit<SampleRequest, "timeoutMs">,
  ) => string | JsonObject | PromiseLike<string | JsonObject>;
  /** Returns the places where the user works. */
  readonly roots?: () => readonly Root[] | PromiseLike<readonly Root[]>;
}

function toReply(reply: unknown): unknown {
  if (typeof reply !== "boolean") return reply;
  return reply ? { action: "accept", content: {} } : { action: "decline" };
}

function toSample(said: unknown): unknown {
  if (typeof said !== "string") return said;
  return { role: "assistant", content: { type: "text", text: said }, model: "test" };
}

/** The functions of a test by the method that each answers, and the capability that it stands for. */
function toAnswers({ elicit, sample, roots }: TestUserOptions): readonly Answering[] {
  return [
    {
      name: "elicit",
      given: elicit,
      method: "elicitation/create",
      capability: { elicitation: { form: {} } },
      // The protocol's own params.
      answer: async (params) => toReply(await elicit?.(params as unknown as TestForm)),
    },
    {
      name: "sample",
      given: sample,
      method: "sampling/createMessage",
      capability: { sampling: {} },
      // As above.
      answer: async (params) => toSample(await sample?.(params as unknown as SampleRequest)),
    },
    {
      name: "roots",
      given: roots,
      method: "roots/list",
      capability: { roots: {} },
      answer: async () => ({ roots: await roots?.() }),
    },
  ];
}

interface Answering {
  readonly name: string;
  readonly given: unknown;
  readonly method: string;
  readonly capability: JsonObject;
  answer(params: JsonObject): Promise<unknown>;
}

/** Answers the questions of a server as a host does whose user a test plays. */
export class TestUser {
  /** The capabilities of the client. */
  readonly capabilities: JsonObject;
  readonly #answers = new Map<string, Answering>();

  /** @throws SurfaceError `INVALID_OPTION` for what is not a function. */
  constructor(options: TestUserOptions) {
    let capabilities: JsonObject = {};
    for (const answering of toAnswers(options)) {
      const { name, given, method, capability } = answering;
      if (given === undefined) continue;
      if (typeof given !== "function") {
        throw new SurfaceError("INVALID_OPTION", `Making a test client: "${name}" must be a function`);
      }
      capabilities = { ...capabilities, ...capability };
      this.#answers.set(method, answering);
    }
    this.capabilities = capabilities;
  }

  /** True if the client can answer questions. */
  get isThere(): boolean {
    return this.#answers.size > 0;
  }

  /** Answers one question, a request of the protocol. Rejects with what the test's function throws. */
  async answer({ method, params }: JsonObject): Promise<JsonObject> {
    const answering = typeof method === "string" ? this.#answers.get(method) : undefined;
    const answer = await answering?.answer(isJsonObject(params) ? params : {});
    // As over a wire.
    const json: unknown = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
    if (isJsonObject(json)) return json;
    // The server would ask again, and again.
    throw new SurfaceError("INVALID_OUTPUT", `Cannot answer "${answering?.name}": its function returned no answer`);
  }
}
