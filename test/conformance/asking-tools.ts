import * as z from "zod";
import type { Asks } from "../../src/catalog/asking/asking.ts";
import { content, Refusal } from "../../src/index.ts";

interface Asking {
  readonly ask: Asks;
}

const named = z.object({ name: z.string() });
const confirmed = z.object({ ok: z.boolean() });

/** What clients of sessions are asked. */
const pushed = {
  test_sampling: {
    description: "Has the client's model write something",
    mutates: false,
    input: z.object({ prompt: z.string() }),
    async handler({ prompt }: { readonly prompt: string }, { ask }: Asking) {
      const { text } = await ask.sample("response", {
        messages: [{ role: "user", content: prompt }],
        maxTokens: 100,
      });
      return content([`LLM response: ${text}`]);
    },
  },
  test_elicitation: {
    description: "Has the user fill in a form",
    mutates: false,
    input: z.object({ message: z.string() }),
    async handler({ message }: { readonly message: string }, { ask }: Asking) {
      const form = z.object({
        username: z.string().meta({ description: "User's response" }),
        email: z.string().meta({ description: "User's email address" }),
      });
      return content([`User response: ${JSON.stringify(await ask.elicit("user", form, message))}`]);
    },
  },
  test_elicitation_sep1034_defaults: {
    description: "Has the user fill in a form that is filled in already",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const form = z.object({
        name: z.string().default("John Doe"),
        age: z.int().default(30),
        score: z.number().default(95.5),
        status: z.enum(["active", "inactive", "pending"]).default("active"),
        verified: z.boolean().default(true),
      });
      const said = await ask.elicit("profile", form, "Please check these");
      return content([`Elicitation completed: ${JSON.stringify(said)}`]);
    },
  },
  test_elicitation_sep1330_enums: {
    description: "Has the user choose in every way there is",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const said = await ask.elicit("choices", choices, "Please choose");
      return content([`Elicitation completed: ${JSON.stringify(said)}`]);
    },
  },
};

const options = ["option1", "option2", "option3"];
const titled = [
  { const: "value1", title: "First Option" },
  { const: "value2", title: "Second Option" },
  { const: "value3", title: "Third Option" },
];

/** Choices with titles, and with those of an older form, are not to be had from a schema of a library. */
const choices = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: titled } },
  },
};

/** What clients are asked from 2026-07-28 on, one thing each. */
const required = {
  test_input_required_result_elicitation: {
    description: "Asks the user for their name",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const said = await ask.elicit("user_name", named, "What is your name?");
      return content([said.action === "accept" ? `Hello, ${said.content.name}!` : "Hello!"]);
    },
  },
  test_input_required_result_sampling: {
    description: "Asks the client's model for a capital",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const messages = [{ role: "user", content: "What is the capital of France?" }] as const;
      return content([(await ask.sample("capital_question", { messages, maxTokens: 100 })).text]);
    },
  },
  test_input_required_result_list_roots: {
    description: "Asks where the user works",
    mutates: false,
    handler: async (_args: undefined, { ask }: Asking) =>
      content([`Roots: ${(await ask.roots()).map(({ uri }) => uri).join(", ")}`]),
  },
  test_input_required_result_request_state: {
    description: "Asks the user to confirm",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const { action } = await ask.elicit("confirm", confirmed, "Please confirm");
      return content([`state-ok: ${action}`]);
    },
  },
  test_input_required_result_tampered_state: {
    description: "Asks the user to confirm, and takes no answer to something else",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const { action } = await ask.elicit("confirm", confirmed, "Please confirm");
      return content([action]);
    },
  },
};

/** `undefined` where the client cannot be asked this: what else it is asked is asked all the same. */
async function ifAble<TAnswer>(asked: Promise<TAnswer>): Promise<TAnswer | undefined> {
  try {
    return await asked;
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === "CLIENT_CANNOT") return undefined;
    throw cause;
  }
}

/** What clients are asked at once, again and again, and where they cannot be asked it. */
const combined = {
  test_input_required_result_multiple_inputs: {
    description: "Asks everything that can be asked, at once",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const messages = [{ role: "user", content: "Generate a greeting" }] as const;
      const [user, greeting, roots] = await Promise.all([
        ask.elicit("user_name", named, "What is your name?"),
        ask.sample("greeting", { messages, maxTokens: 50 }),
        ask.roots(),
      ]);
      return content([`${user.action}: ${greeting.text} (${roots.length} roots)`]);
    },
  },
  test_input_required_result_multi_round: {
    description: "Asks the user twice, one after the other",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const first = await ask.elicit("step1", named, "Step 1: What is your name?");
      const color = z.object({ color: z.string() });
      const second = await ask.elicit("step2", color, "Step 2: What is your favorite color?");
      return content([`${first.action}, ${second.action}`]);
    },
  },
  test_input_required_result_capabilities: {
    description: "Asks what the client says that it can be asked",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const messages = [{ role: "user", content: "Generate a greeting" }] as const;
      const asked = await Promise.all([
        ifAble(ask.elicit("user_name", named, "What is your name?")),
        ifAble(ask.sample("greeting", { messages, maxTokens: 50 })),
      ]);
      return content([JSON.stringify(asked)]);
    },
  },
  test_missing_capability: {
    description: "Asks the client's model, whether it has one or not",
    mutates: false,
    async handler(_args: undefined, { ask }: Asking) {
      const messages = [{ role: "user", content: "Generate a greeting" }] as const;
      return content([(await ask.sample("greeting", { messages, maxTokens: 50 })).text]);
    },
  },
  test_streaming_elicitation: {
    description: "Says how far along it is, and asks the user",
    mutates: false,
    async handler(
      _args: undefined,
      { ask, progress }: Asking & { readonly progress: (of: { progress: number }) => void },
    ) {
      progress({ progress: 1 });
      return content([(await ask.elicit("user_name", named, "What is your name?")).action]);
    },
  },
};

/** The tools by which the suite has the client asked something. */
export const askingTools = { ...pushed, ...required, ...combined };

/** The prompt by which it does. */
export const askingPrompts = {
  test_input_required_result_prompt: {
    description: "A prompt that asks the user what it is about",
    async handler(_args: undefined, { ask }: Asking) {
      const form = z.object({ context: z.string() });
      const said = await ask.elicit("user_context", form, "What context should the prompt use?");
      return `Please use this context: ${said.action === "accept" ? said.content.context : "none"}`;
    },
  },
};
