import { Redis } from "ioredis";
import { readCpuTime } from "../driver/read-cpu-time.ts";

/** Counts since Redis started. Those of commands include commands within scripts. */
export interface RedisCounts {
  readonly commands: ReadonlyMap<string, number>;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly cpuUs: number;
}

/** A connection to a Redis server of this machine, to read what it counts. Call `close()` when done. */
export class RedisMeter {
  readonly socket: string;
  readonly #client: Redis;
  #repliesBytes = 0;

  constructor(socket: string) {
    this.socket = socket;
    this.#client = new Redis({ path: socket });
  }

  async counts(): Promise<RedisCounts> {
    const info = await this.#client.info("everything");
    const field = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1]);
    const commands = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
      ([, name = "", calls]) => [name, Number(calls)] as const,
    );
    const counts = {
      commands: new Map(commands.filter(([name]) => name !== "info")),
      bytesIn: field("total_net_input_bytes"),
      bytesOut: field("total_net_output_bytes") - this.#repliesBytes,
      cpuUs: readCpuTime(field("process_id")) ?? Number.NaN,
    };
    // Redis counts this reply next time.
    this.#repliesBytes += Buffer.byteLength(info);
    return counts;
  }

  /** Returns the bytes of memory of all keys under a prefix. */
  async memory(prefix: string): Promise<number> {
    let bytes = 0;
    for (const key of await this.#client.keys(`${prefix}:*`))
      bytes += Number(await this.#client.call("MEMORY", "USAGE", key, "SAMPLES", "0"));
    return bytes;
  }

  close(): void {
    this.#client.disconnect();
  }
}
