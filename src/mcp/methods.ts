import type { Handler } from "./handlers.ts";
import { createHandshake } from "./handshake.ts";
import { emptyResult, unknownMethod, type Era } from "./protocol.ts";
import type { AppRuntime } from "./servable-app.ts";

/** Queue of a method's requests: behind calls, which may take minutes, or behind reads. `none`: they do not wait. */
export type Turn = "calls" | "reads" | "none";

/** A method of the protocol, as an app serves it. */
export interface Method {
  readonly run: Handler;
  readonly turn: Turn;
}

/** The methods of each era, by name. Subscriptions belong to a connection and are not among them. */
export type Methods = Readonly<Record<Era, ReadonlyMap<string, Method>>>;

const turns: ReadonlyMap<string, Turn> = new Map([
  ["tools/call", "calls"],
  ["prompts/get", "calls"],
  ["resources/read", "reads"],
  ["completion/complete", "reads"],
]);

/** Answers with an empty result. */
export const ping: Method = { run: () => emptyResult, turn: "none" };

const setLevel: Method = { run: (params, { log }) => log?.setLevel(params) ?? unknownMethod, turn: "none" };

function createMethods(runtime: AppRuntime): Methods {
  const shared = new Map<string, Method>([["shutdown", ping]]);
  for (const [name, run] of Object.entries(runtime.handlers)) {
    // A list of resources that can change is read from the application.
    const isRead = name === "resources/list" && runtime.changing.has("resources");
    shared.set(name, { run, turn: isRead ? "reads" : (turns.get(name) ?? "none") });
  }
  const handshake = createHandshake(runtime);
  const legacy = new Map<string, Method>([
    ...shared,
    ["initialize", { run: handshake.initialize, turn: "none" }],
    ["ping", ping],
  ]);
  if (runtime.logs) legacy.set("logging/setLevel", setLevel);
  const modern = new Map<string, Method>([
    ...shared,
    ["server/discover", { run: handshake["server/discover"], turn: "none" }],
  ]);
  return { legacy, modern };
}

const known = new WeakMap<AppRuntime, Methods>();

/** Returns the methods of an open app: one table, however many connections use it. */
export function methodsOf(runtime: AppRuntime): Methods {
  const methods = known.get(runtime) ?? createMethods(runtime);
  known.set(runtime, methods);
  return methods;
}
