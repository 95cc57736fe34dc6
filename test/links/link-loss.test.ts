import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { ReconnectingSurface } from "../../src/links/reconnecting-surface.ts";
import { inProcess } from "../../src/links/in-process.ts";
import { linkLossOf } from "../../src/links/dial-link.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { procedure } from "../../src/surface/define-members.ts";
import { relay } from "../../src/surface/relayed.ts";
import { readOnly } from "../../src/tags/read-only.ts";
import { operationsOf } from "../surface/uses-of.ts";

const surface = defineSurface("window", { look: readOnly(procedure({})) });

describe("linkLossOf()", () => {
  it("takes a failure for that of the connection when it is one, and not when it is told of another", () => {
    const lost = new SurfaceError("DISCONNECTED", "it broke");
    const unsent = new SurfaceError("UNAVAILABLE", "nobody is there");
    expect([lost, unsent].map(linkLossOf)).toEqual(["sent", "unsent"]);
    expect([lost, unsent].map((cause) => linkLossOf(relay(cause)))).toEqual([undefined, undefined]);
    expect(linkLossOf(new Error("it broke"))).toBeUndefined();
  });

  it("lets a read fail at once when the far side tells of another that cannot be reached", async () => {
    let calls = 0;
    const live = implementSurface(surface, {
      look() {
        calls += 1;
        throw relay(new SurfaceError("UNAVAILABLE", "nobody is there"));
      },
    });
    const held = new ReconnectingSurface({ link: inProcess(live), surface });
    const late = new Promise((resolve) => setTimeout(resolve, 3000, "late").unref());
    const failing = operationsOf(held.channel)
      .call("look", undefined, {})
      .catch((cause: unknown) => cause);
    expect(await Promise.race([failing, late])).toMatchObject({ code: "UNAVAILABLE" });
    expect(calls).toBe(1);
    await held.close();
    await live.close();
  });
});
