import { describe, expect, it, vi } from "vitest";
import { Views } from "../../src/views/views.ts";
import type { ViewRules } from "../../src/views/view-rules.ts";
import { LossyCluster } from "../cluster/lossy-cluster.ts";
import { settle } from "../surface/support.ts";

/** Rules in a file that all replicas read; only the replica that writes them hears of it. */
function replicas(count: number) {
  const cluster = new LossyCluster();
  const file = { denies: false };
  const views = Array.from({ length: count }, () => {
    const heard = new Set<() => void>();
    const read = vi.fn<() => ViewRules>(() => [
      {
        id: "all",
        domain: "mcp-surface/routing",
        rules: [{ verdict: file.denies ? { kind: "deny", reason: "closed" } : { kind: "tool_surface" } }],
      },
    ]);
    const own = new Views({
      get: read,
      subscribe: (changed) => {
        heard.add(() => changed(read()));
        return () => {};
      },
    });
    const { replica, bus } = cluster.replica();
    const write = (denies: boolean): void => {
      file.denies = denies;
      for (const tell of heard) tell();
    };
    return { own, replica, read, write, leave: own.share(bus) };
  });
  return { cluster, views };
}

describe("Views.share()", () => {
  it("makes the other replicas read the rules of a source again, with one text for each change", async () => {
    const { cluster, views } = replicas(3);
    const changed = views.map(({ own }) => {
      const listener = vi.fn<() => void>();
      own.subscribe(listener);
      return listener;
    });
    for (const denies of [true, false, true]) {
      views[0]?.write(denies);
      await settle(10);
      const verdict = denies ? "deny" : "tool_surface";
      expect(views.map(({ own }) => own.decide({ surface: "default" }).verdict.kind)).toEqual([
        verdict,
        verdict,
        verdict,
      ]);
    }
    expect(changed.map(({ mock }) => mock.calls.length)).toEqual([3, 3, 3]);
    expect(cluster.texts.map(({ topic, text }) => [topic, text])).toEqual([1, 2, 3].map(() => ["rules", ""]));
  });

  it("reads the rules again after texts were lost", async () => {
    const { cluster, views } = replicas(2);
    const [first, second] = views;
    cluster.cut(second?.replica ?? "");
    first?.write(true);
    await settle(10);
    expect(second?.own.decide({ surface: "default" }).verdict.kind).toBe("tool_surface");
    cluster.heal(second?.replica ?? "");
    expect(second?.own.decide({ surface: "default" }).verdict.kind).toBe("deny");
  });

  it("tells and hears nothing after its end, and subscribes to nothing for fixed rules", async () => {
    const { cluster, views } = replicas(2);
    const [first, second] = views;
    second?.leave();
    second?.leave();
    first?.write(true);
    await settle(10);
    expect(second?.own.decide({ surface: "default" }).verdict.kind).toBe("tool_surface");
    second?.write(true);
    expect(cluster.texts).toHaveLength(1);
    first?.leave();
    new Views({ readonly: { readOnly: true } }).share(cluster.replica().bus)();
    expect(cluster.listeners).toBe(0);
  });
});
