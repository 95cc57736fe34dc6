import type { JsonObject } from "../../schema/json.ts";
import type { SurfaceChannel } from "../../surface/channel.ts";
import type { FaultReporter } from "../../surface/fault.ts";
import type { AskedSurface, ReachedSurface } from "../reach-surface.ts";
import { readNames, ServedMembers } from "./served-members.ts";

/** A text that two peers share who ask for the same. */
function toIdentity({ name, segments }: AskedSurface): string {
  return JSON.stringify([name, [...(segments ?? [])].toSorted(([left], [right]) => (left < right ? -1 : 1))]);
}

/** What a peer uses, once it has said so. */
export class Greeted {
  readonly #identity: string;
  readonly channel: SurfaceChannel;
  readonly members: ServedMembers;

  constructor(asked: AskedSurface, reached: ReachedSurface, report: FaultReporter) {
    this.#identity = toIdentity(asked);
    this.channel = reached.channel;
    this.members = new ServedMembers(reached, report);
  }

  /** Whether it is what is asked for: a connection is for one surface, and what is under way was asked of that. */
  isFor(asked: AskedSurface): boolean {
    return toIdentity(asked) === this.#identity;
  }

  /** The answer to somebody who needs a closer look; `undefined` where that names nothing. */
  describe(params: unknown): JsonObject | undefined {
    const names = readNames(params);
    return names === undefined ? undefined : { members: this.members.shapes(names) };
  }
}
