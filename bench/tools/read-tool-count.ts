import { parseArgs } from "node:util";

const most = 10_000;

/** Reads `--tools N`: how many generated tools to add. Default 0. */
export function readToolCount(): number {
  const { values } = parseArgs({ options: { tools: { type: "string", default: "0" } } });
  const count = Number(values.tools);
  if (Number.isInteger(count) && count >= 0 && count <= most) return count;
  throw new RangeError(`Read --tools: it is "${values.tools}", it must be a whole number from 0 to ${most}`);
}
