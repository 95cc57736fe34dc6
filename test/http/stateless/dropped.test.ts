import { afterEach, expect, it } from "vitest";
import { settle } from "../../surface/support.ts";
import { openSteps } from "../sessions/app.ts";
import { StatelessHarness } from "./stateless-harness.ts";

let harness: StatelessHarness | undefined;

afterEach(() => harness?.close());

it("Unread progress of a modern client is counted when it is dropped, and only if it was requested", async () => {
  const steps = openSteps();
  const leg = (harness = new StatelessHarness(steps.runtime));
  const walk = async (reply: ReturnType<StatelessHarness["call"]>): Promise<void> => {
    for (let step = 0; step < 3; step += 1) {
      await leg.until(() => steps.waiting === 1);
      steps.step();
      await settle(20);
      if (reply.sink !== undefined) reply.sink.isFull = true;
    }
    await leg.until(() => steps.waiting === 1);
    steps.arrive();
    await leg.answered(reply);
  };
  await walk(leg.call(1, "walk"));
  expect(leg.leg.dropped).toBe(0);
  const reply = leg.call(2, "walk", { token: 1 });
  await walk(reply);
  expect(leg.leg.dropped).toBe(2);
  expect(reply.messages).toHaveLength(2);
});
