import { setTimeout as sleep } from "node:timers/promises";
import superjson from "superjson";
import { z } from "zod";
import { Refusal } from "../../../src/errors.ts";
import type { Caller } from "../../../src/surface/caller.ts";
import { current, type Trpc } from "./versions.ts";

/** The context of the shop's procedures. */
export interface ShopContext {
  readonly user: string;
}

/** What happened in the shop's procedures. */
export interface ShopLog {
  readonly contexts: string[];
  readonly inputs: unknown[];
  readonly ended: string[];
}

const Order = z.object({ id: z.string(), placed: z.date(), total: z.bigint().optional() });

const codes = [
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NOT_FOUND",
  "CONFLICT",
  "TOO_MANY_REQUESTS",
  "INTERNAL_SERVER_ERROR",
] as const;

/** Creates a shop of some version of tRPC with superjson, and the log of its procedures. */
// oxlint-disable-next-line max-lines-per-function -- one router, whose type tRPC infers
export function createShop({ initTRPC, TRPCError, tracked, observable }: Trpc = current) {
  const log: ShopLog = { contexts: [], inputs: [], ended: [] };
  const t = initTRPC
    .context<ShopContext>()
    .meta<{ readonly description?: string; readonly title?: string }>()
    .create({ transformer: superjson });
  const logged = t.procedure.use(async (call) => {
    log.contexts.push(call.ctx.user);
    // tRPC 10 has the input itself.
    log.inputs.push("rawInput" in call ? call.rawInput : await call.getRawInput());
    return call.next();
  });

  async function* count(signal: AbortSignal | undefined, name: string): AsyncGenerator<{ readonly tick: number }> {
    try {
      for (let tick = 1; ; tick += 1) {
        yield { tick };
        await sleep(5, undefined, signal === undefined ? {} : { signal });
      }
    } finally {
      log.ended.push(name);
    }
  }

  const router = t.router({
    orders: logged
      .meta({ description: "Every order", title: "Orders" })
      .output(z.array(Order))
      .query(() => [{ id: "o1", placed: new Date(0), total: 12n }]),
    order: t.router({
      show: logged
        .meta({ description: "One order" })
        .input(z.object({ id: z.string().min(2), at: z.date().optional() }))
        .output(Order)
        .query(({ input, ctx }) => ({ id: `${input.id} of ${ctx.user}`, placed: input.at ?? new Date(0), secret: 1 })),
      cancel: logged
        .input(z.object({ id: z.string() }))
        .input(z.object({ reason: z.string(), at: z.date() }))
        .mutation(({ input }) => ({ ...input, at: input.at.getTime() })),
      rename: logged.input(z.string()).mutation(({ input }) => input.toUpperCase()),
    }),
    page: logged
      .input(z.object({ limit: z.number().default(3) }))
      .query(({ input }) => Array.from({ length: input.limit }, (_, index) => index)),
    wide: logged.query(() => ({ at: new Date(0), none: undefined, list: [1] })),
    nothing: logged.mutation(() => {}),
    fail: logged.input(z.object({ code: z.enum(codes) })).mutation(({ input: { code } }) => {
      throw new TRPCError({ code, message: `the shop says ${code}` });
    }),
    wrapped: logged.query(() => {
      throw new TRPCError({ code: "NOT_FOUND", cause: new Error("select * from secret") });
    }),
    bare: logged.query(() => {
      throw new TRPCError({ code: "FORBIDDEN" });
    }),
    caused: logged.query(() => {
      throw new TRPCError({ code: "CONFLICT", cause: new Refusal("CLOSED_TODAY", "the shop is closed") });
    }),
    refuses: logged.query(() => {
      throw new Refusal("CLOSED_TODAY", "the shop is closed", { until: "Monday" });
    }),
    throws: logged.query(() => {
      throw new Error("the secret password");
    }),
    broken: logged.output(z.object({ id: z.string() })).query((): { id: string } => JSON.parse('{ "id": 5 }')),
    strict: logged
      .input(z.object({ id: z.string().refine((id) => id.startsWith("o"), "must start with o") }))
      .query(() => 1),
    ticks: logged.subscription(({ signal }) => count(signal, "ticks")),
    deaf: logged.subscription(() => count(undefined, "deaf")),
    feed: logged.input(z.object({ from: z.number().optional() }).optional()).subscription(async function* ({ input }) {
      yield tracked("e1", { at: new Date(0), from: input?.from });
      yield tracked("e2", { at: new Date(1), from: input?.from });
    }),
    quiet: logged.subscription(async function* ({ signal }): AsyncGenerator<number> {
      try {
        await sleep(60_000, undefined, signal === undefined ? {} : { signal });
        yield 1;
      } finally {
        log.ended.push("quiet");
      }
    }),
    failing: logged.subscription(async function* () {
      yield 1;
      throw new Error("the secret of the stream");
    }),
    constructor: logged.query(() => "constructed"),
    secret: logged.query(() => "hidden"),
    transformed: logged
      .input(z.object({ word: z.string().transform((word) => word.length) }))
      .output(z.object({ length: z.number().transform(String) }))
      .query(({ input }) => ({ length: input.word })),
    void: logged.input(z.void()).mutation(() => true),
    generated: logged.query(async function* () {
      yield 1;
    }),
    tireless: logged.subscription(async function* () {
      try {
        for (let tick = 1; ; tick += 1) yield tick;
      } finally {
        log.ended.push("tireless");
      }
    }),
    // oxlint-disable-next-line no-deprecated -- the only subscriptions that tRPC 10 types, and tRPC 11 still runs them
    observed: logged.subscription(() =>
      observable<{ readonly tick: number }>((emit) => {
        let tick = 0;
        const next = (): void => emit.next({ tick: (tick += 1) });
        next();
        const timer = setInterval(next, 5);
        return () => {
          clearInterval(timer);
          log.ended.push("observed");
        };
      }),
    ),
    ended: logged.query(() => log.ended),
  });
  return { router, log };
}

/** Creates the context of a caller. */
export function shopContext(caller: Caller): ShopContext {
  return { user: caller.id };
}
