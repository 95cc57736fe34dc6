import { describe, expect, it } from "vitest";
import { SurfaceError } from "../../src/errors.ts";
import { type Reply, startRequest } from "../../src/spine/request.ts";
import { type FakeLink, FarEnd } from "./parts/far-end.ts";

const patienceMs = 5000;

/** A request that writes down what became of it. */
class FakeRequest {
  readonly told: string[] = [];
  readonly sent: { readonly link: FakeLink; readonly reply: Reply<string>; cancels: number }[] = [];
  /** Runs within send(). */
  onSend: (reply: Reply<string>) => void = () => {};
  cancel: () => void = () => {};
  readonly #far: FarEnd;
  readonly #kind: "read" | "mutation";

  constructor(far: FarEnd, kind: "read" | "mutation") {
    this.#far = far;
    this.#kind = kind;
  }

  start(): this {
    this.cancel = startRequest<FakeLink, string>(this.#far.holder, this.#far.clock.lane("request"), {
      what: "it",
      kind: this.#kind,
      patienceMs,
      waiting: () => this.told.push("waiting"),
      send: (link, reply) => {
        const sending = { link, reply, cancels: 0 };
        this.sent.push(sending);
        this.onSend(reply);
        return () => {
          sending.cancels += 1;
        };
      },
      answered: (value) => this.told.push(`answered ${value}`),
      failed: (cause) => this.told.push(cause instanceof SurfaceError ? cause.code : String(cause)),
    });
    return this;
  }

  /** What the far side tells of the newest sending. */
  get reply(): Reply<string> {
    const sending = this.sent.at(-1);
    if (sending === undefined) throw new Error("nothing was sent");
    return sending.reply;
  }
}

function live(idleMs = 1000): FarEnd {
  const far = new FarEnd(idleMs);
  far.holder.join({
    wants: true,
    isPatient: () => true,
    live: () => {},
    down: () => {},
    ended: () => {},
    unreachable: () => {},
  });
  far.open();
  return far;
}

describe("startRequest()", () => {
  it.each(["read", "mutation"] as const)("answers a %s once when the far side answers twice", (kind) => {
    const request = new FakeRequest(live(), kind).start();
    request.reply.answered("yes");
    request.reply.answered("again");
    request.reply.refused("no");
    request.reply.lost(true);
    expect(request.told).toEqual(["answered yes"]);
  });

  it.each(["read", "mutation"] as const)(
    "reports nothing of a cancelled %s, and cancels it at the other side",
    (kind) => {
      const far = live();
      const request = new FakeRequest(far, kind).start();
      request.cancel();
      request.cancel();
      request.reply.answered("late");
      request.reply.lost(true);
      far.attempt.ended();
      expect(request.told).toEqual([]);
      expect(request.sent[0]?.cancels).toBe(1);
    },
  );

  it("cancels nothing when it was answered before send() returned", () => {
    const request = new FakeRequest(live(), "read");
    request.onSend = (reply) => reply.answered("at once");
    request.start();
    request.cancel();
    expect(request.told).toEqual(["answered at once"]);
    expect(request.sent[0]?.cancels).toBe(0);
  });

  it("cancels a request that is cancelled from within send()", () => {
    const far = new FarEnd();
    const request = new FakeRequest(far, "read").start();
    request.onSend = () => request.cancel();
    far.open();
    expect(request.sent[0]?.cancels).toBe(1);
    expect(request.told).toEqual(["waiting"]);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("reports nothing when its caller cancels while the link of its answer is released", () => {
    const far = new FarEnd(0);
    const request = new FakeRequest(far, "mutation").start();
    far.open().onClose = () => request.cancel();
    request.reply.answered("yes");
    expect(request.told).toEqual(["waiting"]);
  });

  it("passes on the refusal of a read, and does not send it again", () => {
    const request = new FakeRequest(live(), "read").start();
    request.reply.refused("no");
    expect(request.told).toEqual(["no"]);
    expect(request.sent).toHaveLength(1);
  });

  it("sends a mutation once, and says that its outcome is unknown, when its link is lost", () => {
    const far = live();
    const request = new FakeRequest(far, "mutation").start();
    far.attempt.ended();
    far.pass(25);
    far.open();
    expect(request.told).toEqual(["OUTCOME_UNKNOWN"]);
    expect(request.sent).toHaveLength(1);
  });

  it("says that a mutation was not sent when nothing of it was written", () => {
    const request = new FakeRequest(live(), "mutation").start();
    request.reply.lost(false);
    expect(request.told).toEqual(["UNAVAILABLE"]);
    expect(request.sent).toHaveLength(1);
  });

  it("sends a read again on the next link, and not on the same one, when its link is lost", () => {
    const far = live();
    const request = new FakeRequest(far, "read").start();
    request.reply.lost(true);
    expect(request.sent).toHaveLength(1);
    far.attempt.ended();
    far.pass(25);
    far.open("next");
    expect(request.sent.map(({ link }) => link.name)).toEqual(["link 1", "next"]);
    request.reply.answered("yes");
    expect(request.told.at(-1)).toBe("answered yes");
  });

  it("gives a read up when three links were lost under it", () => {
    const far = live();
    const request = new FakeRequest(far, "read").start();
    for (let count = 0; count < 3; count += 1) {
      far.attempt.ended();
      far.pass(1000);
      far.open();
    }
    expect(request.sent).toHaveLength(3);
    expect(request.told.at(-1)).toBe("UNAVAILABLE");
  });

  it("lets a read wait for its own time without a link, and a mutation until the next failure", () => {
    const far = new FarEnd();
    const read = new FakeRequest(far, "read").start();
    const mutation = new FakeRequest(far, "mutation").start();
    far.attempt.failed("refused");
    expect(mutation.told).toEqual(["waiting", "UNAVAILABLE"]);
    far.pass(patienceMs - 1);
    expect(read.told).toEqual(["waiting"]);
    far.pass(1);
    expect(read.told).toEqual(["waiting", "UNAVAILABLE"]);
    expect(far.clock.timers).toHaveLength(0);
  });

  it("fails a read at once when no link will come", () => {
    const far = new FarEnd();
    const read = new FakeRequest(far, "read").start();
    far.attempt.failed(new SurfaceError("UNSAFE_DIRECTORY", "Connecting: others can write there"));
    expect(read.told).toEqual(["waiting", "UNAVAILABLE"]);
  });

  it.each([
    ["CONTRACT_MISMATCH", "CONTRACT_MISMATCH"],
    ["PROTOCOL_MISMATCH", "PROTOCOL_MISMATCH"],
    ["UNKNOWN_MEMBER", "CONTRACT_MISMATCH"],
  ] as const)("says that another application answers when connecting fails with %s", (code, told) => {
    const far = new FarEnd();
    const requests = (["read", "mutation"] as const).map((kind) => new FakeRequest(far, kind).start());
    far.attempt.failed(new SurfaceError(code, "Connecting: another application"));
    for (const request of requests) expect(request.told.at(-1)).toBe(told);
  });

  it("says CLOSED when the holder is closed, before and after", () => {
    const far = live();
    const request = new FakeRequest(far, "mutation").start();
    far.holder.close();
    expect(request.told).toEqual(["CLOSED"]);
    expect(new FakeRequest(far, "read").start().told).toEqual(["CLOSED"]);
  });

  it("still takes the answer when a link that is going gives it", () => {
    const far = live();
    const request = new FakeRequest(far, "mutation").start();
    far.attempt.leaving();
    request.reply.answered("yes");
    expect(request.told).toEqual(["answered yes"]);
  });
});
