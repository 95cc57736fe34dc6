import { http, type HttpOptions, type HttpServing } from "../../../src/http/index.ts";
import type { ServableApp } from "../../../src/index.ts";
import { atEndOfTest } from "../../setup/end-of-test.ts";
import type { Agent, AgentKind, HttpTarget } from "./clients.ts";

/** Has something ended with the test, before what was begun earlier. */
export function endWithTest(end: () => unknown): void {
  atEndOfTest(end);
}

/** An app that is served on a port of its own as long as the test runs. */
export interface Served {
  readonly serving: HttpServing;
  /** Connects by what the address says besides, such as `?surface=readonly`. */
  readonly enter: (kind: AgentKind, query?: string, more?: Partial<HttpTarget>) => Promise<Agent>;
}

/** Serves an app, and ends everything with the test. */
export async function serveForTest(app: ServableApp, options: HttpOptions = {}): Promise<Served> {
  const serving = await http({ port: 0, exit: false, drainMs: 0, ...options }).serve(app);
  endWithTest(() => serving.close());
  const enter: Served["enter"] = async (kind, query = "", more = {}) => {
    const agent = await kind.connect({ url: `${serving.url}${query}`, ...more });
    endWithTest(() => agent.close());
    return agent;
  };
  return { serving, enter };
}
