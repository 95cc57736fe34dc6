import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Refusal, SurfaceError } from "../../../src/errors.ts";
import type { CallOptions, ProcedureClient } from "../../../src/surface/client.ts";
import { defineSurface } from "../../../src/surface/define-surface.ts";
import { derive } from "../../../src/surface/derive/derive.ts";
import type { ProcedureContext } from "../../../src/surface/owner/handler-context.ts";
import { procedure } from "../../../src/surface/define-members.ts";
import { isRelayed } from "../../../src/surface/relayed.ts";
import { readOnly } from "../../../src/tags/read-only.ts";
import { settle } from "../support.ts";
import { openProjection, startMill, type MillSpec } from "./support.ts";

const verb = defineSurface("board", {
  grind: procedure({ input: z.object({ kg: z.number() }), output: z.number(), progress: z.string() }),
  look: readOnly(procedure({ input: z.number(), output: z.string() })),
});

/** A client by hand. */
function toUpstream(
  call: (input: unknown, use?: CallOptions) => Promise<number>,
): ProcedureClient<MillSpec["grind"]["input"], number, undefined> {
  return { call };
}

describe("derive.procedure()", () => {
  it("passes input, progress and answer on, as they are or made into others", async () => {
    const { live } = startMill({
      async *grind({ kg }) {
        yield "half";
        return kg * 2;
      },
    });
    const { client } = openProjection(live, verb, (up) => ({
      grind: derive.procedure(up.grind),
      look: derive.procedure(up.grind, { input: (kg: number) => ({ kg }), output: (kg) => `${kg} kg` }),
    }));
    const told: string[] = [];
    expect(await client.grind.call({ kg: 2 }, { onProgress: (one) => void told.push(one) })).toBe(4);
    expect(told).toEqual(["half"]);
    expect(await client.look.call(3)).toBe("6 kg");
  });

  it("passes a refusal on as it is", async () => {
    const { live } = startMill({
      grind: () => {
        throw new Refusal("JAMMED", "clear it first", { at: 3 });
      },
    });
    const { client } = openProjection(live, verb, (up) => ({ grind: derive.procedure(up.grind), look: () => "" }));
    await expect(client.grind.call({ kg: 1 })).rejects.toMatchObject({ code: "JAMMED", details: { at: 3 } });
  });

  it("aborts upstream with its caller", async () => {
    let isAborted = false;
    const { live } = startMill({
      grind: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            isAborted = true;
            reject(signal.reason);
          });
        }),
    });
    const { client } = openProjection(live, verb, (up) => ({ grind: derive.procedure(up.grind), look: () => "" }));
    const abort = new AbortController();
    const calling = client.grind.call({ kg: 1 }, { signal: abort.signal });
    await settle();
    abort.abort();
    await expect(calling).rejects.toMatchObject({ code: "ABORTED" });
    await settle();
    expect(isAborted).toBe(true);
  });

  it("lets the codes cross that say where things stand, in words that name nothing upstream", async () => {
    const { live } = startMill();
    const codes = [
      "UNAVAILABLE",
      "OUTCOME_UNKNOWN",
      "DISCONNECTED",
      "TIMEOUT",
      "OVERFLOW",
      "DROPPED",
      "CLOSED",
    ] as const;
    const told: Record<string, unknown> = {};
    for (const code of codes) {
      const call = async (): Promise<never> => {
        throw new SurfaceError(code, 'Calling "run.configure" of surface "mill": hidden');
      };
      const { client } = openProjection(live, verb, () => ({
        grind: derive.procedure(toUpstream(call)),
        look: derive.procedure(toUpstream(call), { input: (kg: number) => ({ kg }), output: String }),
      }));
      for (const failing of [client.grind.call({ kg: 1 }), client.look.call(1)]) {
        const failure = await failing.catch((cause: unknown) => cause);
        expect(isRelayed(failure)).toBe(true);
        expect((failure as Error).message).not.toMatch(/configure|mill|hidden/);
        told[code] = [...((told[code] as unknown[]) ?? []), (failure as SurfaceError).code];
      }
    }
    expect(told).toEqual({
      UNAVAILABLE: ["UNAVAILABLE", "UNAVAILABLE"],
      OUTCOME_UNKNOWN: ["OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"],
      // A connection that was lost under a call that only reads leaves nothing unknown.
      DISCONNECTED: ["OUTCOME_UNKNOWN", "UNAVAILABLE"],
      TIMEOUT: ["TIMEOUT", "TIMEOUT"],
      OVERFLOW: ["OVERFLOW", "OVERFLOW"],
      DROPPED: ["DROPPED", "DROPPED"],
      CLOSED: ["CLOSED", "CLOSED"],
    });
  });

  it("leaves the outcome unknown when a step of a handler by hand is not begun, whatever was done before it", async () => {
    const { live } = startMill();
    const told: Record<string, unknown> = {};
    for (const code of ["UNAVAILABLE", "DROPPED", "OVERFLOW", "DISCONNECTED"] as const) {
      const down = toUpstream(async () => {
        throw new SurfaceError(code, "hidden");
      });
      const { client } = openProjection(live, verb, (up) => {
        const first = derive.procedure(up.grind);
        const second = derive.procedure(down);
        const both = async (kg: number, context: ProcedureContext): Promise<number> => {
          await first({ kg }, context);
          return second({ kg }, context);
        };
        return {
          grind: ({ kg }, context) => both(kg, context),
          look: async (kg, context) => `${await both(kg, context)}`,
        };
      });
      const failures = [client.grind.call({ kg: 1 }), client.look.call(1)].map((call) =>
        call.catch((cause: unknown) => cause),
      );
      told[code] = (await Promise.all(failures)).map((failure) => (failure as SurfaceError).code);
    }
    expect(told).toEqual({
      UNAVAILABLE: ["OUTCOME_UNKNOWN", "UNAVAILABLE"],
      DROPPED: ["OUTCOME_UNKNOWN", "DROPPED"],
      OVERFLOW: ["OUTCOME_UNKNOWN", "OVERFLOW"],
      DISCONNECTED: ["OUTCOME_UNKNOWN", "UNAVAILABLE"],
    });
  });

  it("masks what says that an input does not fit when it is that of a step of a handler by hand", async () => {
    const { live } = startMill();
    const { client, faults } = openProjection(live, verb, (up) => {
      const grind = derive.procedure(up.grind);
      return { grind: (_input, context) => grind({ kg: "much" as never }, context), look: () => "" };
    });
    await expect(client.grind.call({ kg: 1 })).rejects.toMatchObject({ code: "INTERNAL", issues: [] });
    expect(faults).toHaveLength(1);
  });

  it("leaves the outcome unknown when its output uses what is away once upstream has answered", async () => {
    const { live } = startMill();
    const down = toUpstream(async () => {
      throw new SurfaceError("UNAVAILABLE", "hidden");
    });
    const { client } = openProjection(live, verb, (up) => {
      const again = derive.procedure(down);
      // It has no context of a call's to give.
      const output = (kg: number) => again({ kg }, {} as ProcedureContext) as unknown as number;
      return { grind: derive.procedure(up.grind, { output }), look: () => "" };
    });
    await expect(client.grind.call({ kg: 1 })).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  it("leaves the outcome unknown when upstream, or it itself, closes while it is under way", async () => {
    for (const closing of ["upstream", "itself"] as const) {
      const { live: upstream } = startMill({
        grind: (_input, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      });
      const { client, live } = openProjection(upstream, verb, (up) => ({
        grind: derive.procedure(up.grind),
        look: () => "",
      }));
      const calling = client.grind.call({ kg: 1 }).catch((cause: unknown) => cause);
      await settle();
      await (closing === "upstream" ? upstream : live).close();
      expect(await calling).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    }
  });

  it("answers CLOSED once upstream is closed", async () => {
    const { live } = startMill();
    const { client } = openProjection(live, verb, (up) => ({ grind: derive.procedure(up.grind), look: () => "" }));
    await live.close();
    await expect(client.grind.call({ kg: 1 })).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("tells the issues of an input that went up as it was, and masks those of one that it made", async () => {
    const { live } = startMill();
    const loose = defineSurface("board", {
      grind: procedure({ input: z.object({ kg: z.unknown() }) }),
      look: procedure({ input: z.unknown() }),
    });
    const { client } = openProjection(live, loose, (up) => ({
      grind: derive.procedure(up.grind, {}) as never,
      look: derive.procedure(up.grind, { input: (kg: unknown) => ({ kg: kg as number }) }),
    }));
    await expect(client.grind.call({ kg: "much" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      issues: [{ path: "kg" }],
    });
    await expect(client.look.call("much")).rejects.toMatchObject({ code: "INTERNAL", issues: [] });
  });

  it("says that upstream may be called twice only where its own caller may", async () => {
    const { live } = startMill();
    const asked: unknown[] = [];
    const call = async (_input: unknown, use: CallOptions = {}): Promise<number> => {
      asked.push(use.idempotent);
      return 1;
    };
    const { client } = openProjection(live, verb, () => ({
      grind: derive.procedure(toUpstream(call)),
      look: derive.procedure(toUpstream(call), { input: (kg: number) => ({ kg }), output: String }),
    }));
    await client.grind.call({ kg: 1 });
    await client.look.call(1);
    await client.grind.call({ kg: 1 }, { idempotent: true });
    expect(asked).toEqual([undefined, true, true]);
  });
});
