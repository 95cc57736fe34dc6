/**
 * `npm run bench:bridges`: this package beside trpc-to-mcp and fastmcp, on one router and one document. `-- 1` takes one round of
 * figures instead of five. Installs the two from the npm registry into a separate folder, and prints the tables of
 * docs/guide/bridges.md. Every cell is found by running.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Api } from "./bridges/api.ts";
import { BridgeSession } from "./bridges/bridge-session.ts";
import { openApiProbes } from "./bridges/openapi-probes.ts";
import type { Bridge, Probe, ServeRequest } from "./bridges/probe.ts";
import { trpcProbes } from "./bridges/trpc-probes.ts";
import { openSession } from "./driver/open-session.ts";
import { pump } from "./driver/pump.ts";
import { readCpuTime } from "./driver/read-cpu-time.ts";
import { toRequest } from "./driver/requests.ts";
import { takeTurns } from "./measure/take-turns.ts";
import { median, quantile } from "./report/statistics.ts";
import { toMarkdown } from "./report/to-markdown.ts";

const rounds = Number(process.argv[2] ?? 5);
const peers = { "trpc-to-mcp": "1.3.2", fastmcp: "4.20.16" } as const;
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "surface-bridges-"));
const server = join(folder, "serve.mjs");
const api = new Api(join(folder, "schema.json"));

/** One table: this package and another one, with the request that both serve. */
interface Comparison {
  readonly ours: string;
  /** The prefix of our tools. */
  readonly prefix: string;
  readonly peer: keyof typeof peers;
  readonly probes: readonly Probe[];
  readonly request: ServeRequest;
  /** The tool whose calls are measured, and its arguments. */
  readonly tool: string;
  readonly args: object;
  /** The number of calls that are measured, after as many that are not: the compiler inside Node must be done. */
  readonly calls: number;
}

function install(): void {
  // The manifest of this repository.
  const { devDependencies: own } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const wanted = Object.entries({ ...peers, "@trpc/server": own["@trpc/server"], zod: own["zod"] });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const packages = wanted.map(([name, version]) => `${name}@${version}`);
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  symlinkSync(root, join(folder, "node_modules", "surface-mcp"));
  for (const file of ["serve.mjs", "create-router.mjs"])
    copyFileSync(join(root, "bench/bridges", file), join(folder, file));
  console.log(`${packages.join(", ")}; Node ${process.version}; ${new Date().toISOString().slice(0, 10)}\n`);
}

/** Runs the probes of a table, all with one package. */
async function findCells({ probes, request }: Comparison, name: string, prefix: string): Promise<readonly string[]> {
  const start = async (changed: ServeRequest): Promise<BridgeSession> => {
    const session = new BridgeSession(prefix);
    await session.open([server, name, JSON.stringify({ ...request, ...changed })]);
    return session;
  };
  const bridge: Bridge = { session: await start({}), start, api };
  const cells: string[] = [];
  for (const [, find] of probes) cells.push(await find(bridge));
  await bridge.session.close();
  return cells;
}

/** Returns the bytes of the list of the tools that both have, for each. */
async function compareLists({ ours, peer, prefix, request }: Comparison): Promise<readonly number[]> {
  const sides = [new BridgeSession(prefix), new BridgeSession("")] as const;
  const lists: (readonly { readonly name: string }[])[] = [];
  for (const [index, side] of sides.entries()) {
    await side.open([server, index === 0 ? ours : peer, JSON.stringify(request)]);
    lists.push(await side.list());
    await side.close();
  }
  const isShared = ({ name }: { readonly name: string }): boolean =>
    lists.every((tools) => tools.some((tool) => tool.name === name));
  return lists.map((tools) => Buffer.byteLength(JSON.stringify(tools.filter(isShared))));
}

/** Measures a fresh process: the figures of a row each. */
async function measure(side: string, { calls, ...comparison }: Comparison): Promise<readonly number[]> {
  const { ours, prefix, request, tool, args } = comparison;
  const child = await openSession([server, side, JSON.stringify(request)], "legacy");
  const params = { name: (side === ours ? prefix : "") + tool, arguments: args };
  const line = toRequest({ method: "tools/call", params }, "legacy");
  await pump(child, { total: calls, inFlight: 32, request: line });
  const { latenciesMs } = await pump(child, { total: 1_000, inFlight: 1, request: line });
  const before = readCpuTime(child.pid);
  await pump(child, { total: calls, inFlight: 32, request: line });
  const after = readCpuTime(child.pid);
  await child.stop();
  const cpu = before === undefined || after === undefined ? Number.NaN : (after - before) / calls;
  return [quantile(latenciesMs, 0.5) * 1_000, cpu];
}

const figures = ["call p50, µs", "CPU a call, µs"];

/** Measures both in turns. Returns a row a figure: the medians, and the median of the ratios of each round. */
async function compareCalls(comparison: Comparison): Promise<readonly (readonly string[])[]> {
  const { ours, peer } = comparison;
  const samples: Readonly<Record<string, readonly number[]>>[] = [];
  for (let round = 0; round < rounds; round += 1)
    samples.push(await takeTurns(round, [ours, peer], (side) => measure(side, comparison)));
  const round = (value: number): string => Math.round(value).toLocaleString("en-US");
  return figures.map((figure, index) => {
    const own = samples.map((sample) => sample[ours]?.[index] ?? Number.NaN);
    const others = samples.map((sample) => sample[peer]?.[index] ?? Number.NaN);
    const ratio = median(own.map((value, at) => value / (others[at] ?? Number.NaN)));
    return [figure, round(median(own)), round(median(others)), `${ratio.toFixed(2)}x`];
  });
}

async function compare(comparison: Comparison): Promise<void> {
  const { ours, peer, prefix, probes } = comparison;
  const own = await findCells(comparison, ours, prefix);
  const others = await findCells(comparison, peer, "");
  const rows = probes.map(([label], index) => [label, own[index] ?? "", others[index] ?? ""]);
  console.log(`${toMarkdown(["", `\`${ours}\``, `${peer} ${peers[peer]}`], rows)}\n`);
  const [mine = 0, theirs = 0] = await compareLists(comparison);
  const bytes = ["list, bytes", mine.toLocaleString("en-US"), theirs.toLocaleString("en-US")];
  const body = [[...bytes, `${(mine / theirs).toFixed(2)}x`], ...(await compareCalls(comparison))];
  console.log(`${toMarkdown(["figure", `\`${ours}\``, `${peer} ${peers[peer]}`, "ratio"], body)}\n`);
}

try {
  install();
  const baseUrl = await api.open();
  const request = { document: api.document, baseUrl, expose: api.expose, headers: { "x-api-key": "our-key" } };
  const trpc = { ours: "surface-mcp/from/trpc", prefix: "", probes: trpcProbes, request: {} };
  await compare({ ...trpc, peer: "trpc-to-mcp", tool: "order_show", args: { id: "o1" }, calls: 20_000 });
  const openApi = { ours: "surface-mcp/from/openapi", prefix: "api_", probes: openApiProbes, request };
  await compare({ ...openApi, peer: "fastmcp", tool: "showPet", args: { petId: "rex" }, calls: 4_000 });
} finally {
  api.close();
  rmSync(folder, { recursive: true, force: true });
}
