import { SurfaceError } from "../errors.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";
import { splitKey, type SplitKey } from "./split-key.ts";

/** One port of several: whose a member is, its key says. The names of members are those of a composed surface. */
export class SiblingPort implements SurfaceChannel {
  readonly #ports: ReadonlyMap<string, SurfaceChannel>;

  /** @param ports - by what stands before the keys of a sibling. */
  constructor(ports: ReadonlyMap<string, SurfaceChannel>) {
    this.#ports = ports;
  }

  request(use: Operation<RequestVerb>): unknown {
    const found = splitKey(use.member, this.#ports);
    if (found === undefined) throw toUnknown(use);
    return found.sibling.request(withKey(use, found));
  }

  subscribe(use: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    const found = splitKey(use.member, this.#ports);
    if (found === undefined) throw toUnknown(use);
    return found.sibling.subscribe(withKey(use, found));
  }
}

// Field by field: every use passes here.
function withKey<TVerb extends RequestVerb | SubscribeVerb>(
  { verb, argument, options }: Operation<TVerb>,
  { key }: SplitKey<unknown>,
): Operation<TVerb> {
  return { verb, member: key, argument, options };
}

function toUnknown({ member }: Operation<RequestVerb | SubscribeVerb>): SurfaceError {
  return new SurfaceError("UNKNOWN_MEMBER", `Using "${member}": none of the siblings has such a member`);
}
