import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, it } from "vitest";
import { anonymous } from "../../../src/surface/caller.ts";
import type { AppRuntime } from "../../../src/mcp/servable-app.ts";
import type { HttpRequest } from "../../../src/http/message.ts";
import { parseFrame } from "../../../src/mcp/parse-frame.ts";
import { modernLine } from "../../fixtures/envelope.ts";
import { openSteps } from "../sessions/app.ts";
import { FakeReply } from "../sessions/session-harness.ts";
import { StatelessHarness } from "./stateless-harness.ts";

setFlagsFromString("--expose-gc");
// The global that the flag adds to contexts which are made after it.
const collect = runInNewContext("gc") as () => void;

let harness: StatelessHarness | undefined;

afterEach(() => harness?.close());

function listen(leg: StatelessHarness["leg"], { limits, viewFor }: AppRuntime) {
  const params = { notifications: { resourceSubscriptions: ["app://state"] }, junk: "x".repeat(100_000) };
  const frame = parseFrame(modernLine(1, "subscriptions/listen", params), limits);
  if (frame.kind !== "request") throw new Error("it is a request");
  const request: HttpRequest = {
    method: "POST",
    target: "/mcp",
    header: () => "text/event-stream",
    count: () => 1,
    body: (_maxBytes, done) => done("gone"),
  };
  const reply = new FakeReply();
  const caller = anonymous;
  leg.request({ request, reply, caller }, { frame, caller, view: viewFor(caller) });
  return { reply, kept: new WeakRef(frame) };
}

it("A subscription keeps nothing of the request that opened it when it is open", async () => {
  const { runtime } = openSteps();
  harness = new StatelessHarness(runtime);
  const { reply, kept } = listen(harness.leg, runtime);
  await harness.until(() => reply.messages.length > 0);
  for (let round = 0; round < 10 && kept.deref() !== undefined; round += 1) {
    await setImmediate();
    collect();
  }
  expect(kept.deref()).toBeUndefined();
  expect(reply.sink?.state).toBe("open");
});
