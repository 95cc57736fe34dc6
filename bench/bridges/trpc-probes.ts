import { cancelCall, pick, readOnlyHints, startOr, type Probe } from "./probe.ts";

/** The rows of the table about tRPC. */
export const trpcProbes: readonly Probe[] = [
  [
    "tools without opting in",
    ({ start }) =>
      startOr(
        "startup error",
        () => start({ enabled: false }),
        async (session) => String((await session.list()).length),
      ),
  ],
  ["tools of 13 procedures that opt in", async ({ session }) => String((await session.list()).length)],
  readOnlyHints,
  [
    "output schemas of 2 `.output()`",
    async ({ session }) => {
      const tools = await session.list();
      return String(tools.filter(({ name, outputSchema }) => name.startsWith("order_") && outputSchema).length);
    },
  ],
  [
    "a subscription, called",
    async ({ session }) =>
      pick(await session.call("ticks"), [
        ['{"items":[{"tick":1},{"tick":2}]', "its items, bounded"],
        ['"text":"{}"', "`{}`, no items"],
      ]),
  ],
  [
    "a procedure in a lazy part",
    async ({ session }) =>
      pick(await session.call("reports_daily"), [
        ["a report", "a tool"],
        ["Could not find", "not listed"],
      ]),
  ],
  [
    "an input with `z.date()`",
    async ({ session }) =>
      pick(await session.call("order_at", { since: "2026-01-01T00:00:00.000Z" }), [
        ["since 17", "decoded from ISO 8601"],
        ["expected date", "every JSON value is refused"],
      ]),
  ],
  [
    "an input that is no object",
    async ({ session }) =>
      pick(`${await session.check()};`, [
        ["inputSchema", "listed without `inputSchema`; the SDK's client rejects the whole list"],
        [";", "wrapped as `{ value }`"],
      ]),
  ],
  [
    "a recursive input",
    async ({ session }) => {
      const plant = (await session.list()).find(({ name }) => name === "plant");
      return pick(JSON.stringify(plant), [
        ["$ref", "described to any depth"],
        ["Recursive:", "one level deep, then any object"],
      ]);
    },
  ],
  [
    "a plain `throw`",
    async ({ session }) =>
      pick(await session.call("fail"), [
        ["hunter2", "its text reaches the model"],
        ["INTERNAL", "masked, with an id"],
      ]),
  ],
  [
    'a `TRPCError` "CONFLICT"',
    async ({ session }) =>
      pick(await session.call("order_cancel", { id: "o1" }), [
        ["CONFLICT: already sent", "tool error with code and message"],
        ["-32603: already sent", "JSON-RPC error -32603 with the message"],
      ]),
  ],
  [
    "an output that breaks `.output()`",
    async ({ session }) =>
      pick(await session.call("order_wrong"), [
        ["INTERNAL", "withheld, masked"],
        ["Output validation failed", "withheld, JSON-RPC error -32603"],
      ]),
  ],
  [
    "the context is made with",
    async ({ session }) =>
      pick(await session.call("who"), [
        ["anonymous", "the caller"],
        ["nobody", "no argument"],
      ]),
  ],
  [
    "a cancelled call",
    async ({ session }) => {
      await cancelCall(session, "wait");
      return pick(await session.call("aborted"), [
        ['"value":1}', "aborts the procedure's `signal`"],
        ['"text":"0"', "runs on"],
      ]);
    },
  ],
  [
    "a tool that does not exist",
    async ({ session }) =>
      pick(await session.call("admin_wipe"), [
        ["-32602", "JSON-RPC error -32602"],
        ["Could not find tool", "a result without `isError`"],
      ]),
  ],
];
