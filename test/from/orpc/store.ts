import { setTimeout as sleep } from "node:timers/promises";
import { createORPCClient } from "@orpc/client";
import { RPCLink } from "@orpc/client/fetch";
import { eventIterator, oc } from "@orpc/contract";
import { createRouterClient, implement, ORPCError, os, type RouterClient } from "@orpc/server";
import { RPCHandler } from "@orpc/server/fetch";
import { z } from "zod";
import { Refusal } from "../../../src/errors.ts";
import type { Caller } from "../../../src/surface/caller.ts";

/** What happened in the procedures of a store. */
export interface StoreLog {
  readonly users: string[];
  readonly inputs: unknown[];
  readonly ended: string[];
}

const Order = z.object({ id: z.string(), placed: z.date() });

/** Creates a store of oRPC, clients of it, and the log of its procedures. */
// oxlint-disable-next-line max-lines-per-function -- one router, whose type oRPC infers
export function createStore() {
  const log: StoreLog = { users: [], inputs: [], ended: [] };
  const base = os
    .$context<{ readonly user: string }>()
    .$meta<{ readonly description?: string }>({})
    .use(({ context, next }, input) => {
      log.users.push(context.user);
      log.inputs.push(input);
      return next();
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

  const router = {
    orders: base
      .route({ method: "GET", summary: "Orders", description: "Every order" })
      .output(z.array(Order))
      .handler(() => [{ id: "o1", placed: new Date(0) }]),
    order: {
      show: base
        .meta({ description: "One order" })
        .input(z.object({ id: z.string().min(2), at: z.date().optional() }))
        .output(Order)
        .handler(({ input, context }) => ({
          ...{ id: `${input.id} of ${context.user}`, secret: 1 },
          placed: input.at ?? new Date(0),
        })),
      cancel: base
        .route({ method: "DELETE" })
        .input(z.object({ id: z.string() }))
        .errors({ SHIPPED: { message: "it is on its way", data: z.object({ at: z.date() }) } })
        .handler(({ input, errors }) => {
          if (input.id === "shipped") throw errors.SHIPPED({ data: { at: new Date(0) } });
          return { cancelled: input.id };
        }),
    },
    strict: base
      .input(z.object({ id: z.string().refine((id) => id.startsWith("o"), "must start with o") }))
      .errors({ BAD_REQUEST: {} })
      .handler(() => 1),
    transformed: base
      .input(z.object({ word: z.string().transform((word) => word.length) }))
      .output(z.object({ length: z.number().transform(String) }))
      .handler(({ input }) => ({ length: input.word })),
    fail: base.input(z.object({ code: z.string() })).handler(({ input: { code } }): void => {
      throw new ORPCError(code, { message: `the store says ${code}`, data: { secret: 1 } });
    }),
    caused: base.handler((): void => {
      throw new ORPCError("CONFLICT", { message: "select * from secret", cause: new Error("select * from secret") });
    }),
    faked: base.handler((): void => {
      throw new ORPCError("FAKED", { defined: true, message: "the secret of the store" });
    }),
    unfit: base.errors({ UNFIT: { data: z.object({ at: z.date() }) } }).handler((): void => {
      throw new ORPCError("UNFIT", { defined: true, message: "the secret of the store", data: { at: "secret" } });
    }),
    throws: base.handler((): void => {
      throw new Error("the secret password");
    }),
    refuses: base.handler((): void => {
      throw new Refusal("CLOSED_TODAY", "the store is closed", { until: "Monday" });
    }),
    broken: base.output(z.object({ id: z.string() })).handler((): { id: string } => JSON.parse('{ "id": 5 }')),
    ticks: base.handler(({ signal }) => count(signal, "ticks")),
    deaf: base.output(eventIterator(z.object({ tick: z.number() }))).handler(() => count(undefined, "deaf")),
    quiet: base.handler(async function* ({ signal }): AsyncGenerator<number> {
      try {
        await sleep(60_000, undefined, signal === undefined ? {} : { signal });
        yield 1;
      } finally {
        log.ended.push("quiet");
      }
    }),
    failing: base.handler(async function* () {
      yield 1;
      throw new Error("the secret of the stream");
    }),
    loose: base.output(z.unknown()).handler(() => 1),
    constructor: base.handler(() => "constructed"),
    reports: base.lazy(async () => ({ default: { daily: base.handler(() => "a report") } })),
  };
  const client = (caller: Caller): RouterClient<typeof router> =>
    createRouterClient(router, { context: { user: caller.id } });
  return { router, client, log };
}

/** The contract of a remote store. */
export const contract = {
  order: {
    show: oc
      .input(z.object({ id: z.string().min(2), at: z.date().optional() }))
      .output(z.object({ id: z.string(), at: z.date().optional() })),
    cancel: oc.input(z.object({ id: z.string() })).errors({ SHIPPED: { data: z.object({ at: z.string() }) } }),
  },
  strict: oc.input(z.object({ id: z.string().refine((id) => id.startsWith("o"), "must start with o") })),
  ticks: oc.output(eventIterator(z.number())),
};

/** Creates a client of the contract's implementation in another server, as `RPCLink` reaches it. */
export function createRemote() {
  const ended: string[] = [];
  const impl = implement(contract).$context<{ readonly user: string }>();
  const router = impl.router({
    order: {
      show: impl.order.show.handler(({ input, context }) => ({ ...input, id: `${input.id} of ${context.user}` })),
      cancel: impl.order.cancel.handler(({ input, errors }) => {
        if (input.id === "broken") throw new Error("the secret password");
        throw errors.SHIPPED({ message: "it is on its way", data: { at: "noon" } });
      }),
    },
    strict: impl.strict.handler(() => 1),
    ticks: impl.ticks.handler(async function* ({ signal }) {
      try {
        for (let tick = 1; ; tick += 1) {
          yield tick;
          await sleep(5, undefined, signal === undefined ? {} : { signal });
        }
      } finally {
        ended.push("ticks");
      }
    }),
  });
  const handler = new RPCHandler(router);
  const client = (caller: Caller): RouterClient<typeof router> =>
    createORPCClient(
      new RPCLink({
        url: "http://store.example/rpc",
        headers: { "x-user": caller.id },
        fetch: async (request, init) => {
          const asked = new Request(request, init);
          const context = { user: asked.headers.get("x-user") ?? "nobody" };
          const { response } = await handler.handle(asked, { prefix: "/rpc", context });
          return response ?? new Response(null, { status: 404 });
        },
      }),
    );
  return { client, ended };
}
