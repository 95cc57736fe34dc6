import { describe, expect, it } from "vitest";
import { dialTimeoutMs } from "../../src/spine/connection-manager.ts";
import { FakeUser, FarEnd } from "./parts/far-end.ts";

describe("ConnectionManager", () => {
  it("dials once and gives every user the link when several want one", () => {
    const far = new FarEnd();
    const users = [new FakeUser(), new FakeUser()];
    for (const user of users) far.holder.join(user);
    expect(far.attempts).toHaveLength(1);
    far.open();
    for (const user of users) expect(user.told).toEqual(["live link 1 1"]);
    const late = new FakeUser();
    far.holder.join(late);
    expect(late.told).toEqual(["live link 1 1"]);
    expect(far.attempts).toHaveLength(1);
  });

  it("has a user once, and releases it at once, when it joins again from its callback", () => {
    const far = new FarEnd(0);
    const user = new FakeUser();
    user.onTold = () => {
      user.onTold = () => {};
      far.holder.join(user);
    };
    const leave = far.holder.join(user);
    const link = far.open();
    far.holder.join(user);
    leave();
    expect(link.closes).toBe(1);
  });

  it("gives a user the link after those before it when it joins from a callback of the opening", () => {
    const far = new FarEnd();
    const order: string[] = [];
    const [first, second, late] = [new FakeUser(), new FakeUser(), new FakeUser()];
    first.onTold = () => {
      order.push("first");
      far.holder.join(late);
      far.holder.join(late);
    };
    second.onTold = () => order.push("second");
    late.onTold = () => order.push("late");
    far.holder.join(first);
    far.holder.join(second);
    far.open();
    expect(order).toEqual(["first", "second", "late"]);
  });

  it("gives a user that joined from a callback only the next link when this one ends before its turn", () => {
    const far = new FarEnd();
    const [first, late] = [new FakeUser(), new FakeUser()];
    first.onTold = (what) => {
      if (what !== "live link 1 1") return;
      far.holder.join(late);
      far.attempt.ended();
    };
    far.holder.join(first);
    far.open();
    far.pass(25);
    far.open();
    expect(late.told).toEqual(["down 1", "ended 1", "live link 2 3"]);
  });

  it("closes a link, once, when it opens after its attempt was abandoned", () => {
    const far = new FarEnd();
    far.holder.join(new FakeUser())();
    expect(far.attempt.isAbandoned()).toBe(true);
    expect(far.open().closes).toBe(1);
    expect(far.holder.current).toBeUndefined();
  });

  it("changes nothing when a former attempt or link is heard of late", () => {
    const far = new FarEnd();
    far.holder.join(new FakeUser())();
    const former = far.attempt;
    const user = new FakeUser();
    far.holder.join(user);
    former.failed("late");
    former.ended("late");
    former.leaving();
    expect(far.attempts).toHaveLength(2);
    far.open("new");
    former.ended("late");
    expect(user.told).toEqual(["live new 3"]);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("gives up an attempt, and dials again only after that, when nothing answers", () => {
    const far = new FarEnd();
    const user = new FakeUser(false);
    const next = new FakeUser();
    user.onTold = () => {
      expect(far.attempts[0]?.isAbandoned()).toBe(true);
      far.holder.join(next);
    };
    far.holder.join(user);
    far.pass(dialTimeoutMs);
    expect(user.told).toEqual(["unreachable SurfaceError: Connecting to it: nothing answered"]);
    expect(far.attempts).toHaveLength(2);
    expect(far.attempt.isAbandoned()).toBe(false);
  });

  it("releases users that do not wait, and dials again for those that do, when an attempt fails", () => {
    const far = new FarEnd();
    const [patient, impatient] = [new FakeUser(true), new FakeUser(false)];
    far.holder.join(patient);
    far.holder.join(impatient);
    far.attempt.failed("refused");
    expect(impatient.told).toEqual(["unreachable refused"]);
    expect(far.holder.lastFailure).toBe("refused");
    far.pass(25);
    far.open();
    expect(patient.told).toEqual(["live link 2 3"]);
    expect(far.holder.lastFailure).toBeUndefined();
  });

  it("abandons an attempt that a callback began when its user has left", () => {
    const far = new FarEnd();
    const [first, second, third] = [new FakeUser(false), new FakeUser(false), new FakeUser(false)];
    first.onTold = () => far.holder.join(third)();
    far.holder.join(first);
    far.holder.join(second);
    far.attempt.failed("refused");
    expect(second.told).toEqual(["unreachable refused"]);
    expect(far.attempt.isAbandoned()).toBe(true);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("dials a link that was born dead again at most three times when it keeps dying", () => {
    const far = new FarEnd();
    const user = new FakeUser(false);
    far.holder.join(user);
    for (let count = 1; count <= 3; count += 1) {
      far.attempt.ended("born dead");
      expect(user.told).toEqual([]);
      far.pass(1000);
      expect(far.attempts).toHaveLength(count + 1);
    }
    far.attempt.ended("born dead");
    expect(user.told).toEqual(["unreachable born dead"]);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("keeps a leaving link for its answers and dials another", () => {
    const far = new FarEnd();
    const user = new FakeUser();
    far.holder.join(user);
    const link = far.open("old");
    const { attempt } = far;
    attempt.leaving();
    far.pass(25);
    far.open("new");
    expect(link.closes).toBe(0);
    attempt.ended();
    expect(user.told).toEqual(["live old 1", "down 1", "live new 3", "ended 1"]);
  });

  it("closes a leaving link when its last user leaves", () => {
    const far = new FarEnd(1000);
    const user = new FakeUser();
    const leave = far.holder.join(user);
    const link = far.open();
    far.attempt.leaving();
    expect(link.closes).toBe(0);
    leave();
    expect(link.closes).toBe(1);
    far.attempt.ended();
    far.holder.close();
    expect(link.closes).toBe(1);
  });

  it("closes a leaving link at once without a user", () => {
    const far = new FarEnd(1000);
    const leave = far.holder.join(new FakeUser());
    const link = far.open();
    leave();
    far.attempt.leaving();
    expect(link.closes).toBe(1);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("reports a lost link to every user before the next link, also when a callback wants another", () => {
    const far = new FarEnd();
    const [first, second, late] = [new FakeUser(), new FakeUser(), new FakeUser()];
    far.holder.join(first);
    far.holder.join(second);
    far.open("old");
    first.onTold = (what) => {
      if (what === "down 1") far.holder.join(late);
    };
    far.attempt.ended();
    expect(far.attempts).toHaveLength(1);
    far.pass(25);
    far.open("new");
    for (const user of [first, second]) expect(user.told).toEqual(["live old 1", "down 1", "ended 1", "live new 3"]);
    expect(late.told).toContain("live new 3");
  });

  it("has one attempt at a time when all users leave and one comes within dial()", () => {
    const far = new FarEnd();
    const leave = far.holder.join(new FakeUser());
    far.attempt.failed("refused");
    const user = new FakeUser();
    far.onDial = () => {
      leave();
      far.holder.join(user);
    };
    far.pass(25);
    expect(far.attempts).toHaveLength(2);
    far.open();
    expect(user.told).toEqual(["live link 2 3"]);
  });

  it("abandons an attempt as soon as dial() has returned when all users leave within it", () => {
    const far = new FarEnd();
    const leave = far.holder.join(new FakeUser());
    far.attempt.failed("refused");
    far.onDial = () => leave();
    far.pass(25);
    expect(far.attempt.isAbandoned()).toBe(true);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("abandons an attempt as soon as dial() has returned when it is closed within", () => {
    const far = new FarEnd();
    const leaving = new FakeUser(false);
    far.onDial = () => far.holder.close();
    far.holder.join(leaving);
    expect(far.attempt.isAbandoned()).toBe(true);
    expect(far.open().closes).toBe(1);
  });

  it("uses a link that is there before dial() returns when dial() is synchronous", () => {
    const far = new FarEnd();
    far.onDial = () => void far.open("at once");
    const user = new FakeUser();
    const leave = far.holder.join(user);
    expect(user.told).toEqual(["live at once 1"]);
    expect(far.attempt.isAbandoned()).toBe(false);
    leave();
    expect(far.holder.current).toBeUndefined();
    expect(far.clock.timers).toHaveLength(0);
  });

  it("keeps a link for idleMs after its last use when idleMs is not 0", () => {
    const far = new FarEnd(1000);
    const leave = far.holder.join(new FakeUser());
    const link = far.open();
    leave();
    far.pass(600);
    far.holder.join(new FakeUser())();
    far.pass(900);
    expect(link.closes).toBe(0);
    far.pass(100);
    expect(link.closes).toBe(1);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("closes an idle link in time when the clock is set back", () => {
    const far = new FarEnd(1000);
    far.holder.join(new FakeUser());
    const other = far.holder.join(new FakeUser());
    const link = far.open();
    other();
    far.holder.join(new FakeUser());
    expect(link.closes).toBe(0);
    const idle = new FarEnd(1000);
    const leave = idle.holder.join(new FakeUser());
    const kept = idle.open();
    leave();
    idle.clock.jump(-3_600_000);
    idle.pass(2000);
    expect(kept.closes).toBe(1);
  });

  it("close() ends everything once, notifies every user, and nothing is dialled after it when called twice", () => {
    const far = new FarEnd(1000);
    const user = new FakeUser();
    far.holder.join(user);
    const link = far.open();
    far.holder.close();
    far.holder.close();
    expect(link.closes).toBe(1);
    const closed = "unreachable SurfaceError: Using it: the connection is closed";
    expect(user.told).toEqual(["live link 1 1", closed]);
    const late = new FakeUser();
    far.holder.join(late)();
    expect(late.told).toEqual([closed]);
    expect(far.attempts).toHaveLength(1);
    expect(far.clock.timers).toHaveLength(0);
  });
});
