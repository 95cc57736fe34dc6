import { initTRPC, TRPCError } from "trpc-server-10";
import { observable } from "trpc-server-10/observable";
import { z } from "zod";
import type { ShopContext } from "./shop.ts";

/** Creates the main procedures of the shop with tRPC 10, and a list of the observables that were left. */
export function createLegacyShop() {
  const ended: string[] = [];
  const t = initTRPC.context<ShopContext>().meta<{ readonly description?: string }>().create();
  const router = t.router({
    orders: t.procedure.meta({ description: "Every order" }).query(() => [{ id: "o1" }]),
    order: t.router({
      show: t.procedure
        .input(z.object({ id: z.string().min(2) }))
        .output(z.object({ id: z.string() }))
        .query(({ input, ctx }) => ({ id: `${input.id} of ${ctx.user}`, secret: 1 })),
      cancel: t.procedure
        .input(z.object({ id: z.string() }))
        .input(z.object({ reason: z.string().refine((text) => text !== "none", "must be a reason") }))
        .mutation(({ input }) => {
          if (input.id === "gone") throw new TRPCError({ code: "NOT_FOUND", message: "there is no such order" });
          if (input.id === "broken") throw new Error("the secret password");
          return { cancelled: input.id, because: input.reason };
        }),
    }),
    ticks: t.procedure.subscription(() =>
      observable<{ readonly tick: number }>((emit) => {
        let tick = 0;
        const next = (): void => emit.next({ tick: (tick += 1) });
        next();
        const timer = setInterval(next, 5);
        return () => {
          clearInterval(timer);
          ended.push("ticks");
        };
      }),
    ),
  });
  return { router, ended };
}
