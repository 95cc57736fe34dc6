import { expectAssignable, expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  procedure,
  type Asks,
  type AskSchema,
  type AskTimeouts,
  type Elicited,
  type JsonObject,
  type Link,
  type MountContext,
  type MountSource,
  type Root,
  type Sampled,
  type SampleRequest,
  type ToolContext,
} from "surface-mcp";
import { z } from "zod";

declare const link: Link;
declare const ask: Asks;
declare const source: MountSource;
declare const anySchema: AskSchema;
declare const unchecked: any;

const surface = defineSurface("s", { state: cell({ schema: z.number() }), run: procedure({}) });
const app = mcp(surface).bridge(link);
const form = z.object({ name: z.string(), age: z.number().default(1), role: z.enum(["a", "b"]) });

// Every handler that is no member's asks by the same methods.
app.tools({ one: { handler: (_args, context) => expectType<Asks>(context.ask) } });
app.tools({
  one: { input: form, handler: async (_args, context) => expectType<readonly Root[]>(await context.ask.roots()) },
});
app.prompts({ one: { handler: (_args, context) => (expectType<Asks>(context.ask), "") } });
app.resources({ one: { read: (_none, context) => expectType<Asks>(context.ask) } });
app.mount("hub", { ...source, invoke: (_name, _input, context) => expectType<Asks>(context.ask) });
expectType<Asks>(field<ToolContext<unknown>>().ask);
expectType<Asks>(field<MountContext>().ask);

// What a form comes to is what its schema makes of it, and there only where the user accepts.
async function asked(): Promise<void> {
  const said = await ask.elicit("who", form, "Who are you?");
  expectType<Elicited<{ name: string; age: number; role: "a" | "b" }>>(said);
  expectError(said.content);
  if (said.action === "accept") expectType<{ name: string; age: number; role: "a" | "b" }>(said.content);
  else expectType<"decline" | "cancel">(said.action);
  // A JSON Schema says nothing to the compiler, and neither does a schema whose type is not known.
  expectType<Elicited<JsonObject>>(await ask.elicit("who", { type: "object" }, "Who?"));
  const open = await ask.elicit("who", anySchema, "Who?");
  if (open.action === "accept") expectError(open.content.name);

  const written = await ask.sample("draft", { messages: [{ role: "user", content: "write" }], maxTokens: 100 });
  expectType<Sampled>(written);
  expectType<string>(written.text);
  expectType<readonly Root[]>(await ask.roots());
  // A question may set its own time.
  expectType<Elicited<{ name: string; age: number; role: "a" | "b" }>>(
    await ask.elicit("who", form, { message: "Who are you?", timeoutMs: 1000 }),
  );
  expectType<Sampled>(await ask.sample("draft", { messages: [], maxTokens: 1, timeoutMs: 1000 }));
  expectType<readonly Root[]>(await ask.roots({ timeoutMs: 1000 }));
  expectType<() => void>(ask.onRoots(() => {}));
}
void asked;

// A question has a key, and says all that is asked.
expectError(ask.elicit(form, "Who?"));
expectError(ask.elicit("who", form));
expectError(ask.elicit(1, form, "Who?"));
expectError(ask.elicit("who", "text", "Who?"));
expectError(ask.sample({ messages: [], maxTokens: 1 }));
expectError(ask.sample("draft", { messages: [{ role: "user", content: "write" }] }));
expectError(ask.sample("draft", { messages: [{ role: "system", content: "write" }], maxTokens: 1 }));
expectError(ask.roots("here"));
expectError(ask.roots({ timeout: 1 }));
expectError(ask.roots({ timeoutMs: "1s" }));
expectError(ask.elicit("who", form, { timeoutMs: 1 }));
expectError(ask.elicit("who", form, { message: "Who?", timeoutMS: 1 }));
expectError(ask.sample("draft", { messages: [], maxTokens: 1, timeoutMs: "1s" }));
expectAssignable<SampleRequest>({
  messages: [{ role: "user", content: [{ type: "text", text: "a" }] }],
  maxTokens: 1,
  systemPrompt: "be brief",
  modelPreferences: { speedPriority: 1 },
});

// How states are kept is the app's.
mcp(surface, { asking: { secret: new Uint8Array(32), claim: async () => true } });
mcp(surface, { asking: { claim: (_id, expiresAt) => expiresAt > 1 } });
expectError(mcp(surface, { asking: { secret: "text" } }));
expectError(mcp(surface, { asking: { claim: true } }));
expectError(mcp(surface, { asking: { nope: 1 } }));

// The time that clients have is the app's, by the kind of the question.
mcp(surface, { asking: { timeoutMs: { elicit: 600_000 } } });
expectAssignable<AskTimeouts>({ elicit: 1, sample: 1, roots: 1 });
expectError(mcp(surface, { asking: { timeoutMs: 600_000 } }));
expectError(mcp(surface, { asking: { timeoutMs: { elicits: 1 } } }));
expectError(mcp(surface, { asking: { timeoutMs: { elicit: "10 min" } } }));

// A handler's own answer is no consent, nor is what it was called with.
expectError(app.tools({ one: { handler: (args, { ask: { consent } }) => consent(args) } }));
expectType<any>(unchecked);

declare function field<TOf>(): TOf;
