import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import { http } from "../../src/http/http.ts";
import type { ServableApp } from "../../src/mcp/servable-app.ts";
import { procedure, cell } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { LossyCluster } from "../cluster/lossy-cluster.ts";
import { atEndOfTest } from "../setup/end-of-test.ts";
import { until } from "../surface/support.ts";
import { httpClients } from "./support/http-clients.ts";

const shop = defineSurface("shop", {
  stock: mcpResource(cell({ schema: z.number() })),
  sell: mcpTool(procedure({ output: z.number() })),
});

const uri = "surface://shop/stock";

/** Serves replicas of an app over one database, which announces a change only to the replica that makes it. */
async function serveReplicas(count: number): Promise<readonly string[]> {
  const cluster = new LossyCluster();
  const database = { stock: 100 };
  const urls: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const listeners = new Set<() => void>();
    const app = mcp(shop).implement({
      stock: {
        get: async () => database.stock,
        subscribe: (changed) => {
          const listener = (): void => changed();
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
      sell: () => {
        database.stock -= 1;
        for (const changed of listeners) changed();
        return database.stock;
      },
    });
    const replica: ServableApp = {
      open: () => {
        const runtime = app.open();
        runtime.join(cluster.replica());
        return runtime;
      },
    };
    const serving = await http({ exit: false }).serve(replica);
    atEndOfTest(() => serving.close());
    urls.push(`http://127.0.0.1:${serving.port}/mcp`);
  }
  return urls;
}

describe("replicas that are served over HTTP", () => {
  it.each(httpClients)("notify a watcher of each change that a client of another makes: $name", async ({ connect }) => {
    const [first = "", second = "", third = ""] = await serveReplicas(3);
    const [writer, watcher, other] = [
      await connect({ url: first }),
      await connect({ url: second }),
      await connect({ url: third }),
    ];
    const notices = [0, 0];
    await watcher.watch(uri, () => (notices[0] = (notices[0] ?? 0) + 1));
    await other.watch(uri, () => (notices[1] = (notices[1] ?? 0) + 1));
    for (let sold = 1; sold <= 3; sold += 1) {
      await writer.callTool({ name: "sell" });
      await until(() => notices.every((count) => count >= sold), "a notice on both replicas");
      expect(await watcher.readResource({ uri })).toMatchObject({ contents: [{ text: String(100 - sold) }] });
    }
    expect(notices).toEqual([3, 3]);
    for (const client of [writer, watcher, other]) await client.close();
  });
});
