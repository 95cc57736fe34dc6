import { SurfaceError } from "../errors.ts";
import type { AskVerb, ChannelPort, FollowVerb, Use } from "../surface/channel-port.ts";
import { splitKey, type SplitKey } from "./split-key.ts";

/** One port of several: whose a member is, its key says. The names of members are those of a composed surface. */
export class SiblingPort implements ChannelPort {
  readonly #ports: ReadonlyMap<string, ChannelPort>;

  /** @param ports - by what stands before the keys of a sibling. */
  constructor(ports: ReadonlyMap<string, ChannelPort>) {
    this.#ports = ports;
  }

  ask(use: Use<AskVerb>): Promise<unknown> {
    const found = splitKey(use.member, this.#ports);
    if (found === undefined) return Promise.reject(toUnknown(use));
    return found.sibling.ask(withKey(use, found));
  }

  follow(use: Use<FollowVerb>): AsyncIterable<unknown> {
    const found = splitKey(use.member, this.#ports);
    if (found === undefined) throw toUnknown(use);
    return found.sibling.follow(withKey(use, found));
  }
}

// Field by field: every use passes here.
function withKey<TVerb extends AskVerb | FollowVerb>(
  { verb, argument, options }: Use<TVerb>,
  { key }: SplitKey<unknown>,
): Use<TVerb> {
  return { verb, member: key, argument, options };
}

function toUnknown({ member }: Use<AskVerb | FollowVerb>): SurfaceError {
  return new SurfaceError("UNKNOWN_MEMBER", `Using "${member}": none of the siblings has such a member`);
}
