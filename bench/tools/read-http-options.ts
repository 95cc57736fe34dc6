import { parseArgs } from "node:util";

/** How a server of the benchmark is started over HTTP. */
export interface HttpBenchOptions {
  /** Which era it serves, where it can only serve one of them. */
  readonly era: "legacy" | "modern";
  /** How many sessions and streams it has at most; `undefined`: as many as it has by itself. */
  readonly most: number | undefined;
  /** Whether callers have to say who they are. */
  readonly auth: boolean;
  /** The number of views, named `view_0` and on. */
  readonly views: number;
  /** Whether it serves the live page. */
  readonly inspector: boolean;
}

/** Reads `--era legacy|modern`, `--most N`, `--views N`, `--auth` and `--inspector`. */
export function readHttpOptions(): HttpBenchOptions {
  const { values } = parseArgs({
    options: {
      era: { type: "string", default: "modern" },
      most: { type: "string" },
      auth: { type: "boolean", default: false },
      views: { type: "string", default: "0" },
      inspector: { type: "boolean", default: false },
    },
  });
  return {
    era: values.era === "legacy" ? "legacy" : "modern",
    most: values.most === undefined ? undefined : Number(values.most),
    auth: values.auth,
    views: Number(values.views),
    inspector: values.inspector,
  };
}
