import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import type { Phase } from "../agent/phases.ts";
import { AgentMessage } from "../agent/story.ts";
import type { Printer } from "../agent/printer.ts";

/** How the agent's work ended, and what was observed meanwhile. */
export type AgentReport = Pick<Extract<AgentMessage, { readonly kind: "ended" }>, "outcome" | "testimony">;

/** An agent in a process of its own. Whoever started it ends it. */
export interface AgentProcess {
  readonly pid: number;
  /** Resolves with the pid of the face that it has started, where it has to start one. */
  readonly face: Promise<number>;
  /** Resolves when its run is live, and watched. */
  readonly live: Promise<void>;
  /** Resolves when it has looked at a log in the outage. */
  readonly looked: Promise<void>;
  /** Resolves when its work is done; rejects with its reason when it could not do it, or is gone. */
  readonly report: Promise<AgentReport>;
  /** Whether it has only waited for a verdict for a moment now. */
  readonly isIdle: () => boolean;
  enter(phase: Phase): void;
  /** Lets it end, its face first. Callable twice. */
  end(): Promise<void>;
}

/** What an agent is started with. */
export interface AgentSetting {
  /** What its command line says of its face. */
  readonly face: readonly string[];
  readonly keepGoing: boolean;
  readonly printer: Printer;
  readonly colours: boolean;
}

const PROGRAM = fileURLToPath(new URL("../agent-process.ts", import.meta.url));
const END_MS = 15_000;
/** A wait that is shorter may be over before anybody has heard of it. */
const IDLE_MS = 200;

/** Starts an agent, and prints what it says. */
export function startAgent({ face: faceArgs, keepGoing, printer, colours }: AgentSetting): AgentProcess {
  const room = Number.isFinite(printer.room) ? ["--room", String(printer.room)] : [];
  const flags = [...(colours ? ["--colours"] : []), ...(keepGoing ? ["--keep-going"] : [])];
  const args = [...room, ...flags, ...faceArgs];
  const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), PROGRAM, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
  });
  const gone = once(child, "exit");
  let idleSince = Number.POSITIVE_INFINITY;
  let onFace = (_pid: number): void => {};
  const face = new Promise<number>((resolve) => (onFace = resolve));
  let onLive = (): void => {};
  const live = new Promise<void>((resolve) => (onLive = resolve));
  let onLooked = (): void => {};
  const looked = new Promise<void>((resolve) => (onLooked = resolve));
  const report = new Promise<AgentReport>((resolve, reject) => {
    const hear = (message: AgentMessage): void => {
      if (message.kind === "print") print(printer, message);
      else if (message.kind === "face") onFace(message.pid);
      else if (message.kind === "idle") {
        onLive();
        idleSince = message.idle ? performance.now() : Number.POSITIVE_INFINITY;
      } else if (message.kind === "looked") onLooked();
      else if (message.kind === "ended") resolve(message);
      else reject(new Error(message.reason));
    };
    child.on("message", (message) => hear(AgentMessage.parse(message)));
    // The channel is read to its end before it closes, so that nothing that was said comes later than this.
    child.once("close", () => reject(new Error("the agent has ended before its work was done")));
  });
  // Whoever asks hears of it; where nobody does, because something else failed first, it is no news.
  report.catch(() => {});
  return {
    pid: child.pid ?? 0,
    face,
    live,
    looked,
    report,
    isIdle: () => performance.now() - idleSince >= IDLE_MS,
    enter: (phase) => void (child.connected && child.send({ phase })),
    async end() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await gone;
      clearTimeout(timer);
    },
  };
}

function print(printer: Printer, { as, text, lines }: Extract<AgentMessage, { readonly kind: "print" }>): void {
  if (as === "step") printer.step(text, lines);
  else if (as === "details") printer.details(lines);
  else if (as === "headline") printer.headline(text);
  else printer.waiting(text);
}
