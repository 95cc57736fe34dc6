import { describe, expect, it } from "vitest";
import { EventMemory } from "../../../src/surface/owner/ring.ts";

describe("EventMemory", () => {
  it("adds up what was lost, and tells it once", () => {
    const memory = new EventMemory();
    memory.lost(3);
    memory.lost(0);
    memory.lost(4);
    expect(memory.takeGap()).toEqual({ missed: 7, isReset: true });
    expect(memory.takeGap()).toEqual({ missed: 0, isReset: false });
  });

  it.each([1e16, -3, 0.5, Number.NaN])(
    "tells only that something was lost when it is told that it was %d",
    (missed) => {
      const memory = new EventMemory();
      memory.lost(missed);
      expect(memory.takeGap()).toEqual({ missed: 0, isReset: true });
    },
  );

  it("tells only that something was lost when what adds up is too much", () => {
    const memory = new EventMemory();
    memory.lost(1e9);
    memory.lost(1e9);
    expect(memory.takeGap()).toEqual({ missed: 0, isReset: true });
  });
});
