import { ServerProcess } from "../../fixtures/server-process.ts";
import type { HttpSettings } from "../../fixtures/serve-over-http.ts";
import { stages, type StageCounts } from "../../../src/http/admission.ts";

/** What the server says of itself. */
export interface HostileStats {
  readonly port: number;
  readonly sessions: number;
  readonly streams: number;
  readonly stages: StageCounts;
}

/** The hostile server over HTTP, in a process of its own. Whoever started it stops it. */
export class HostileServer {
  readonly process: ServerProcess;
  #asked = 0;

  constructor(script: string, settings: HttpSettings = {}, nodeArgs: readonly string[] = []) {
    this.process = new ServerProcess(script, ["--http", JSON.stringify(settings)], nodeArgs);
  }

  /** What it has counted, after it has changed what it serves so many times. */
  async stats(times = 0): Promise<HostileStats> {
    this.#asked += 1;
    const frame = await this.process.request({ id: `stats ${this.#asked}`, times });
    // What serve-over-http.ts writes.
    const result = frame?.message["result"] as HostileStats | undefined;
    if (result === undefined) throw new Error(`the server is gone: ${this.process.stderr}`);
    return result;
  }

  async kill(): Promise<void> {
    await this.process.kill();
  }
}

/** How many requests came to each stage between two counts. */
export function stagesBetween(before: HostileStats, after: HostileStats): StageCounts {
  const counts = stages.map((stage) => [stage, after.stages[stage] - before.stages[stage]]);
  // One number for each of the stages.
  return Object.fromEntries(counts) as StageCounts;
}
