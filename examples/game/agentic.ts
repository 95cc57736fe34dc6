import type { Observe } from "./observable.ts";

// The shape of an agentic service, as the game needs it. It knows nothing of MCP, and nothing of this package: whatever has
// this shape can be shown to agents as it is, and the services of `@adobe/data` have it.

/** What can be seen of a service just now. */
export interface State {
  readonly schema: object;
  readonly value: unknown;
}

/** What can be done just now. A text that it answers says why it was not done. */
export interface Action {
  readonly description: string;
  readonly schema?: object;
  execute(input?: unknown): unknown;
}

/** States and actions that come and go, and other services that are there just now. */
export interface Service {
  readonly serviceName: string;
  readonly states: Observe<Readonly<Record<string, State>>>;
  readonly actions: Observe<Readonly<Record<string, Action>>>;
  execute(action: string, input: unknown): Promise<unknown>;
  readonly links?: Observe<Readonly<Record<string, Service>>>;
}

/** Has an action carried out that is there just now. */
export async function executeIn(
  actions: Readonly<Record<string, Action>>,
  action: string,
  input: unknown,
): Promise<unknown> {
  return Object.hasOwn(actions, action) ? actions[action]?.execute(input) : `"${action}" cannot be done now`;
}
