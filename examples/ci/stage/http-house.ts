import { connectLookers } from "../agent/looking-clients.ts";
import { startOnlooker } from "../agent/onlooker.ts";
import type { Onlooker, Sight } from "../agent/onlooker.ts";
import type { Printer } from "../agent/printer.ts";
import type { FaceFiguresView } from "../face-figures.ts";
import type { House } from "./house.ts";
import { startHttpFace } from "./http-face.ts";
import type { HttpFace, HttpFaceSetting } from "./http-face.ts";

/**
 * Starts one face over HTTP for all, and lets two agents look on, each with a session of its own, while a third drives.
 *
 * @throws Error when the face does not come up, or does not serve them.
 */
export async function openHttpHouse(setting: HttpFaceSetting): Promise<House> {
  const { printer } = setting;
  const face = await startHttpFace(setting);
  try {
    const clients = await connectLookers(face.url);
    const onlookers = await Promise.all(clients.map((client) => startOnlooker(client, printer)));
    return new HttpHouse({ face, onlookers, printer });
  } catch (error) {
    await face.end();
    throw error;
  }
}

interface HttpHouseParts {
  readonly face: HttpFace;
  readonly onlookers: readonly Onlooker[];
  readonly printer: Printer;
}

class HttpHouse implements House {
  readonly face: readonly string[];
  readonly #parts: HttpHouseParts;

  constructor(parts: HttpHouseParts) {
    this.face = ["--url", parts.face.url];
    this.#parts = parts;
  }

  async introduce({ pid }: { readonly pid: number }): Promise<readonly string[]> {
    const { face, onlookers } = this.#parts;
    return [
      `  face         ${face.pid}  one MCP server for all, at ${face.url}; it bridges to the socket`,
      `  agent        ${pid}  drives the run: SDK 2.x, era 2026-07-28, no session`,
      ...onlookers.map(({ title }) => `  agent        ${process.pid}  looks on: ${title}`),
    ];
  }

  async onLive(): Promise<void> {
    const { face, onlookers, printer } = this.#parts;
    for (const onlooker of onlookers) onlooker.follow();
    const { stats, watches } = await face.figures();
    printer.step(`three agents are connected to face ${face.pid} at once:`, [
      `  ${stats.sessions} sessions, ${stats.streams} streams; the nodes are watched at the coordinator ${toTimes(watches.open)}`,
    ]);
  }

  async conclude(): Promise<void> {
    const { face, onlookers, printer } = this.#parts;
    const sights = await Promise.all(onlookers.map((onlooker) => onlooker.conclude()));
    const figures = await face.figures();
    const { paint } = printer;
    const title = paint("strong", "What those saw who looked on, over HTTP");
    printer.details(["", title, ...sights.flatMap((sight) => toLines(sight, printer)), ...toFigures(figures, printer)]);
    // While two are still connected: their streams end with what they wait for, and nothing has to time out.
    const code = await face.end();
    printer.details([
      `  SIGTERM   to face ${face.pid}: ended with ${code === 0 ? paint("good", "code 0") : `code ${code}`}`,
    ]);
    assertPromised({ sights, figures, code });
  }

  async end(): Promise<void> {
    const { face, onlookers } = this.#parts;
    await Promise.all(onlookers.map((onlooker) => onlooker.close().catch(() => {})));
    await face.end();
  }
}

interface Seen {
  readonly sights: readonly Sight[];
  readonly figures: FaceFiguresView;
  readonly code: number | null;
}

function assertPromised({ sights, figures, code }: Seen): void {
  const blind = sights.filter(({ lastAnnounced }) => !lastAnnounced).map(({ title }) => title);
  if (blind.length > 0) throw new Error(`look on: the last change was not announced to ${blind.join(" and ")}`);
  const { most } = figures.watches;
  if (most !== 1)
    throw new Error(`look on: the nodes were watched ${toTimes(most)} at once, and once is enough for all`);
  if (code !== 0) throw new Error(`end the face: it has ended with code ${code}`);
}

function toLines({ title, notices, progress, verdicts, lastAnnounced }: Sight, { paint }: Printer): readonly string[] {
  const last = lastAnnounced ? paint("good", "last value announced") : paint("bad", "last value not announced");
  return [
    `  agent     ${title}`,
    `            ${notices} notices of the nodes, ${last}; ${progress} times told that its wait goes on`,
    `            verdicts: ${verdicts.length === 0 ? "none" : verdicts.join(", ")}`,
  ];
}

function toFigures({ stats, watches }: FaceFiguresView, { paint }: Printer): readonly string[] {
  const shared = `${watches.most} at a time, ${watches.opened} in all`;
  const stages = Object.entries(stats.stages).map(([stage, count]) => `${stage} ${count}`);
  return [
    `  watches   of the nodes at the coordinator, for all three agents: ${paint(watches.most === 1 ? "good" : "bad", shared)}`,
    `  face      ${stats.sessions} sessions, ${stats.streams} streams, ${stats.dropped} messages dropped`,
    `  requests  by how far they came: ${stages.join(", ")}`,
  ];
}

function toTimes(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}
