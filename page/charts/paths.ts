import type { SecondTotals } from "../../src/inspector/messages.ts";

/** The seconds that a chart shows. A chart is as many units wide. */
export const chartSeconds = 120;
/** The height of a chart in its units. */
export const chartHeight = 100;

/** The next number of 1, 2 and 5 times a power of ten, for the top of an axis. */
export function toNiceMaximum(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 5, 10].find((one) => one * power >= value * 0.9999) ?? 10;
  return factor * power;
}

/** The values of the last seconds, oldest first. A second without totals has none. */
export function toSlots(
  seconds: readonly SecondTotals[],
  now: number,
  read: (totals: SecondTotals) => number | undefined,
): (number | undefined)[] {
  const slots = Array.from<number | undefined>({ length: chartSeconds });
  const last = Math.floor(now / 1000);
  for (const totals of seconds) {
    const index = chartSeconds - 1 - (last - Math.floor(totals.at / 1000));
    if (index >= 0 && index < chartSeconds) slots[index] = read(totals);
  }
  return slots;
}

const toY = (value: number, maximum: number): number =>
  Math.round((chartHeight - (Math.min(value, maximum) / maximum) * chartHeight) * 10) / 10;

/** Draws a filled path of steps. A slot without a value is empty. */
export function toAreaPath(slots: readonly (number | undefined)[], maximum: number): string {
  const steps = slots.map((value, x) => {
    if (value === undefined || value <= 0) return "";
    const y = toY(value, maximum);
    return `M${x} ${chartHeight}V${y}H${x + 1}V${chartHeight}Z`;
  });
  return steps.join("");
}

/** Draws a line through the middles of the slots. It bridges slots without a value, since only calls have a latency. */
export function toLinePath(slots: readonly (number | undefined)[], maximum: number): string {
  let path = "";
  for (const [x, value] of slots.entries()) {
    if (value !== undefined) path += `${path === "" ? "M" : "L"}${x + 0.5} ${toY(value, maximum)}`;
  }
  // A browser draws a single point only as a line to itself.
  return path.replace(/^M[^L]*$/, "$&h0");
}
