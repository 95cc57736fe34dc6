import { createBudgets, resolveLimits } from "../../../src/http/budgets.ts";
import { Admission, type StageCounters } from "../../../src/http/admission.ts";
import { KeepAlive } from "../../../src/http/sse.ts";
import { resolveServerOptions } from "../../../src/http/options.ts";
import { Responder } from "../../../src/http/respond.ts";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import type { HttpBounds } from "../../../src/http/options.ts";
import { createAnswerRenderer } from "../../../src/mcp/protocol.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import type { Clock } from "../../../src/spine/clock.ts";

const bounds: HttpBounds = resolveServerOptions({});

/** What a leg without a network is told by. */
export interface SettingParts {
  readonly runtime: AppRuntime;
  readonly clock: Clock;
  readonly counters: StageCounters;
  /** Bounds other than the defaults. */
  readonly more: Partial<HttpBounds>;
}

/** What a leg without a network is made of. */
export function createHttpSetting({ runtime, clock, counters, more }: SettingParts): HttpDeps {
  const all = { ...bounds, ...more };
  return {
    runtime,
    bounds: all,
    clock,
    counters,
    budgets: createBudgets(resolveLimits(), () => {}),
    admission: new Admission(all),
    keepAlive: new KeepAlive(clock, all.keepAliveMs),
    limiter: undefined,
    responder: new Responder({
      render: createAnswerRenderer(runtime.info),
      challenge: (scopes) => scopes.join(" "),
      observers: runtime.observers,
    }),
  };
}
