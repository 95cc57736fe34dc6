import { setTimeout as sleep } from "node:timers/promises";
import { createRouterClient, defineMeta, eventIterator, os } from "orpc-server-2";
import { z } from "zod";
import type { Caller } from "../../../src/surface/caller.ts";

const Order = z.object({ id: z.string(), placed: z.date() });
const [description] = defineMeta("description", (text: string) => text);
/** The metadata of `@orpc/openapi`. */
const [openapi] = defineMeta("~openapi", (route: { readonly method: string; readonly summary?: string }) => route);

/** Creates the main procedures of the store with oRPC 2, clients of them, and the log. */
export function createNextStore() {
  const log: { readonly ended: string[] } = { ended: [] };
  const base = os.$context<{ readonly user: string }>();
  const router = {
    orders: base
      .meta(openapi({ method: "GET", summary: "Orders" }), description("Every order"))
      .output(z.array(Order))
      .handler(() => [{ id: "o1", placed: new Date(0) }]),
    order: {
      show: base
        .meta(description("One order"))
        .input(z.looseObject({ id: z.string().min(2) }))
        .input(z.object({ id: z.string(), at: z.date().optional() }))
        .output(Order)
        .handler(({ input, context }) => ({
          ...{ id: `${input.id} of ${context.user}`, secret: 1 },
          placed: input.at ?? new Date(0),
        })),
      cancel: base
        .meta(openapi({ method: "DELETE" }))
        .input(z.object({ id: z.string() }))
        .errors({ SHIPPED: { message: "it is on its way", data: z.object({ at: z.date() }) } })
        .handler(({ errors }): void => {
          throw errors.SHIPPED({ data: { at: new Date(0) } });
        }),
    },
    throws: base.handler((): void => {
      throw new Error("the secret password");
    }),
    deaf: base.output(eventIterator(z.object({ tick: z.number() }))).handler(async function* () {
      try {
        for (let tick = 1; ; tick += 1) {
          yield { tick };
          await sleep(5);
        }
      } finally {
        log.ended.push("deaf");
      }
    }),
    reports: base.lazy(async () => ({ default: { daily: base.handler(() => "a report") } })),
  };
  const client = (caller: Caller) => createRouterClient(router, { context: { user: caller.id } });
  return { router, client, log };
}
