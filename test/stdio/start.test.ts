import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { AppRuntime, ServableApp } from "../../src/mcp/servable-app.ts";
import { stdio } from "../../src/stdio/stdio.ts";
import { guardStdout } from "../../src/links/stdout-guard.ts";
import { createHostileApp } from "../fixtures/hostile.ts";

/** An app that says what was done to it. */
function watched(events: string[]): ServableApp {
  return {
    open(): AppRuntime {
      events.push("opened");
      const runtime = createHostileApp().open();
      const close = async (): Promise<void> => {
        events.push("closed");
        await runtime.close();
      };
      return { ...runtime, close };
    },
  };
}

const closedInput = (): PassThrough =>
  Object.assign(new PassThrough(), {
    on: () => {
      throw new Error("cannot be listened to");
    },
  });

describe("stdio()", () => {
  it("does not open the app when standard output is guarded already", async () => {
    const events: string[] = [];
    const guard = guardStdout();
    try {
      const serving = stdio({ input: new PassThrough(), exit: false }).serve(watched(events));
      const message = expect.stringContaining("stdio is already being served") as string;
      await expect(serving).rejects.toMatchObject({ code: "CONTRADICTION", message });
    } finally {
      guard.restore();
    }
    expect(events).toEqual([]);
  });

  it("closes the app and gives standard output back when it cannot start", async () => {
    const events: string[] = [];
    const serving = stdio({ input: closedInput(), exit: false }).serve(watched(events));
    await expect(serving).rejects.toThrow("cannot be listened to");
    expect(events).toEqual(["opened", "closed"]);
    guardStdout().restore();
  });

  it("gives standard output back when the app cannot be opened", async () => {
    const broken: ServableApp = {
      open() {
        throw new Error("there is no link");
      },
    };
    const serving = stdio({ input: new PassThrough(), exit: false }).serve(broken);
    await expect(serving).rejects.toThrow("there is no link");
    guardStdout().restore();
  });
});
