import { initTRPC, lazy, TRPCError } from "@trpc/server";
import { z } from "zod";

const t = initTRPC.context().meta().create();
const Order = z.object({ id: z.string() });
const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree);
  },
});

/**
 * Creates the router of the comparison.
 *
 * @param enabled - whether its procedures, all but `admin.wipe`, opt in by the metadata that trpc-to-mcp reads.
 */
export function createRouter(enabled) {
  let aborted = 0;
  const open = (description) => t.procedure.meta({ description, mcp: { enabled, description } });
  return t.router({
    orders: open("All orders").query(() => [{ id: "o1" }, { id: "o2" }]),
    order: t.router({
      show: open("One order")
        .input(Order)
        .output(Order)
        .query(({ input }) => ({ ...input, cost: "secret" })),
      cancel: open("Cancel an order")
        .input(Order)
        .mutation(() => {
          throw new TRPCError({ code: "CONFLICT", message: "already sent" });
        }),
      at: open("Orders since a date")
        .input(z.object({ since: z.date() }))
        .query(({ input }) => `since ${input.since.getTime()}`),
      wrong: open("An order that breaks its schema")
        .output(Order)
        .query(() => ({ id: 5 })),
    }),
    plant: open("Plant a tree")
      .input(Tree)
      .mutation(({ input }) => input.name),
    rename: open("A procedure whose input is a text")
      .input(z.string())
      .mutation(({ input }) => input),
    fail: open("Fail").query(() => {
      throw new Error("password=hunter2");
    }),
    who: open("The context").query(({ ctx }) => ctx),
    wait: open("Wait until the call is cancelled").query(
      ({ signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener("abort", () => {
            aborted += 1;
            resolve(aborted);
          });
        }),
    ),
    aborted: open("How many calls of wait were aborted").query(() => aborted),
    ticks: open("Ticks").subscription(async function* () {
      yield { tick: 1 };
      yield { tick: 2 };
    }),
    reports: lazy(async () => t.router({ daily: open("A report, in a lazy part").query(() => "a report") })),
    admin: t.router({ wipe: t.procedure.mutation(() => "wiped") }),
  });
}
