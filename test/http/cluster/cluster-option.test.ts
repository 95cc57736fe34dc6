import { describe, expect, it } from "vitest";
import type { Cluster, OpenClusterOptions } from "../../../src/cluster/cluster.ts";
import { SurfaceError } from "../../../src/errors.ts";
import { http, httpHandler } from "../../../src/http/http.ts";
import { resolveHandlerOptions } from "../../../src/http/options.ts";
import { createDemo } from "../support/demo-app.ts";

/** A cluster that only opens. */
function openable(ready: Promise<void>): { cluster: Cluster; opened: OpenClusterOptions[]; closed: () => number } {
  const opened: OpenClusterOptions[] = [];
  let closed = 0;
  const none = (): never => {
    throw new Error("not used");
  };
  const cluster: Cluster = {
    replica: "a1",
    bus: { publish: () => {}, subscribe: () => () => {} },
    store: {
      now: none,
      get: none,
      set: none,
      claim: none,
      swap: none,
      renew: none,
      delete: none,
      take: none,
      leave: none,
    },
    log: { append: none, read: none },
    limiter: { take: none },
    isAvailable: true,
    lapses: 0,
    isAlive: none,
    open(options) {
      opened.push(options);
      return { ready, close: async () => void (closed += 1) };
    },
  };
  return { cluster, opened, closed: () => closed };
}

describe("the option cluster", () => {
  it("opens the cluster by the name of the app, and closes it with the server", async () => {
    const { cluster, opened, closed } = openable(Promise.resolve());
    const { app } = createDemo();
    const serving = await http({ cluster, exit: false }).serve(app);
    expect(opened.map((options) => options.app)).toEqual(["demo"]);
    expect(closed()).toBe(0);
    await serving.close();
    expect(closed()).toBe(1);
  });

  it("keeps http() from starting when the store is not reached, and closes everything", async () => {
    const away = new SurfaceError("UNAVAILABLE", "Cannot reach the store");
    const { cluster, closed } = openable(Promise.reject(away));
    const { app } = createDemo();
    await expect(http({ cluster, exit: false }).serve(app)).rejects.toBe(away);
    expect(closed()).toBe(1);
  });

  it("lets httpHandler() start when the store is not reached, and reports it", async () => {
    const away = new SurfaceError("UNAVAILABLE", "Cannot reach the store");
    const faults: unknown[] = [];
    const { cluster, closed } = openable(Promise.reject(away));
    const { app } = createDemo({ onFault: ({ cause }) => void faults.push(cause) });
    const handler = httpHandler(app, { cluster });
    await new Promise(setImmediate);
    expect(faults).toEqual([away]);
    expect((await handler(new Request("http://localhost/healthz"))).status).toBe(200);
    await handler.close();
    expect(closed()).toBe(1);
  });

  it("reports what the cluster reports", async () => {
    const faults: unknown[] = [];
    const { cluster, opened } = openable(Promise.resolve());
    const { app } = createDemo({ onFault: ({ cause }) => void faults.push(cause) });
    const handler = httpHandler(app, { cluster });
    opened[0]?.report("the connection is lost");
    expect(faults).toEqual(["the connection is lost"]);
    await handler.close();
  });

  it.each([[{}], ["redis://localhost"], [{ open() {} }], [null]])("refuses %j, and names redis()", (cluster) => {
    // As a caller without the compiler could write.
    const options = { cluster } as unknown as { cluster: Cluster };
    expect(() => resolveHandlerOptions(options)).toThrow(/"cluster" must be made by redis\(\) of surface-mcp\/redis/);
  });

  it.each(["stick", 1, null])("goes with sessions of true, false or sticky, and not of %j", (sessions) => {
    // As above.
    const options = { sessions } as unknown as { sessions: "sticky" };
    expect(() => resolveHandlerOptions(options)).toThrow(/"sessions" must be true, false or "sticky"/);
    for (const fine of [true, false, "sticky"] as const)
      expect(resolveHandlerOptions({ sessions: fine }).sessions).toBe(fine);
  });
});
