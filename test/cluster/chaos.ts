import { parseArgs } from "node:util";
import { runClusterChaos } from "./run-chaos.ts";
import { toRows } from "./to-rows.ts";

// `npm run chaos:cluster -- --kills N [--seed S] [--clients C] [--watchers W]`: replicas as processes, a Redis server, real kills; docs/reliability.md says what is checked.

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    clients: { type: "string", default: "20" },
    watchers: { type: "string" },
  },
});
const [kills, seed] = [Number(values.kills), Number(values.seed)];
const started = performance.now();
const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(1)} s`;
const outcome = await runClusterChaos({
  kills,
  seed,
  clients: Number(values.clients),
  watchers: Number(values.watchers ?? values.clients),
  onKill: (killed, deliveries) => {
    if (killed % 10 === 0) console.log(`${killed} of ${kills} kills, ${deliveries} messages after ${seconds()}`);
  },
});
for (const [name, value] of [...toRows(outcome), ["duration", seconds()] as const]) {
  console.log(`${name.padEnd(44)}${value.padStart(12)}`);
}
for (const { check, text } of outcome.violations.slice(0, 20)) console.log(`\n${check}: ${text}`);
if (outcome.violations.length > 0) process.exitCode = 1;
