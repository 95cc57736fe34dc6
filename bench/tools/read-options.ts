import { parseArgs } from "node:util";

/** How a server of the benchmark is started. */
export interface BenchOptions {
  /** How many generated tools to add. */
  readonly tools: number;
  /** The socket of the process that owns the surface, for a server that reaches it there. */
  readonly bridge: string | undefined;
  /** The socket to listen at, for the process that owns the surface. */
  readonly listen: string | undefined;
}

const most = 10_000;

/** Reads `--tools N`, default 0, `--bridge PATH` and `--listen PATH`. */
export function readOptions(): BenchOptions {
  const { values } = parseArgs({
    options: { tools: { type: "string", default: "0" }, bridge: { type: "string" }, listen: { type: "string" } },
  });
  const tools = Number(values.tools);
  if (Number.isInteger(tools) && tools >= 0 && tools <= most) {
    return { tools, bridge: values.bridge, listen: values.listen };
  }
  throw new RangeError(`Read --tools: it is "${values.tools}", it must be a whole number from 0 to ${most}`);
}
