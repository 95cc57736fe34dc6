/**
 * `npm run load [-- --sessions 1000] [--era legacy|modern]`: a server over HTTP, in a process of its own, with as many
 * streams at once. Prints what was found beside its limits; ends with code 1 when one is missed. docs/performance.md says
 * how it is measured. `npm run load -- --replicas 1,2,4`: replicas that share a Redis, see docs/scale.md.
 */
import { parseArgs } from "node:util";
import { type CompiledServers, compileServers } from "./compile-servers.ts";
import { type Era, eras } from "./driver/requests.ts";
import { checkNonces } from "./load/check-nonces.ts";
import { type Finding, toFindingTable } from "./load/finding.ts";
import { loadReplicas } from "./load/load-replicas.ts";
import { capFor, loadStreams } from "./load/load-streams.ts";

function readSessions(text: string): number {
  const sessions = Number(text);
  if (Number.isInteger(sessions) && sessions >= 1 && sessions <= 10_000) return sessions;
  throw new RangeError(`Read --sessions: it is "${text}", it must be a whole number from 1 to 10000`);
}

function readEras(text: string | undefined): readonly Era[] {
  if (text === undefined) return eras;
  const era = eras.find((one) => one === text);
  if (era === undefined) throw new RangeError(`Read --era: it is "${text}", it must be one of ${eras.join(", ")}`);
  return [era];
}

function readCounts(text: string): readonly number[] {
  const counts = text.split(",").map(Number);
  if (counts.every((count) => Number.isInteger(count) && count >= 1 && count <= 16)) return counts;
  throw new RangeError(`Read --replicas: it is "${text}", it must be whole numbers from 1 to 16, like 1,2,4`);
}

async function loadOneServer({ http }: CompiledServers): Promise<void> {
  const sessions = readSessions(values.sessions);
  const chosen = readEras(values.era);
  process.stdout.write(
    `Caps: maxSessions, maxStreams, maxSessionsPerPrincipal and maxStreamsPerPrincipal are ${capFor(sessions)}, ` +
      "and rateLimit is false where callers are known. All else is as it is by default.\n",
  );
  const findings: Finding[] = [];
  for (const era of chosen) {
    process.stderr.write(`${era}: ${sessions} streams\n`);
    findings.push(...(await loadStreams(http.ours, era, sessions)));
    process.stderr.write(`${era}: two principals, the same ids\n`);
    findings.push(await checkNonces(http.ours, era));
  }
  process.stdout.write(`\n${toFindingTable(findings)}\n`);
  if (findings.some(({ found, limit }) => !(found <= limit))) process.exitCode = 1;
}

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1000" },
    era: { type: "string" },
    replicas: { type: "string" },
  },
});
const counts = values.replicas === undefined ? undefined : readCounts(values.replicas);
const servers = await compileServers();
if (counts === undefined) await loadOneServer(servers);
else process.exitCode = await loadReplicas(servers.replica, counts);
