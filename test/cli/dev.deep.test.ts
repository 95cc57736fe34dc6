import { describe, expect, it, vi } from "vitest";
import { dev, exporting, urlOf } from "./dev-support.ts";

describe("dev", () => {
  it("ends a version that loops at import, and serves the last one meanwhile", { timeout: 90_000 }, async () => {
    const served = await dev(exporting("one"), "--port", "0");
    const url = await urlOf(served);
    await served.write("export const word = 1;\nfor (;;);\n");
    await vi.waitFor(() => expect(served.out()).toContain("did not start; the last version"), {
      timeout: 80_000,
      interval: 100,
    });
    expect((await fetch(url, { method: "POST", body: "{}" })).status).not.toBe(503);
    await served.write(exporting("two"));
    await vi.waitFor(() => expect(served.out()).toContain("reloaded"), { timeout: 20_000, interval: 50 });
  });
});
