import { SurfaceError } from "../errors.ts";
import type { Operation, RequestVerb, SubscribeVerb, SurfaceChannel } from "../surface/channel.ts";

/** The longest key of a surface. */
const maxKeyLength = 128;

/** A key of a composed surface, taken apart. */
interface SplitKey<TSibling> {
  readonly sibling: TSibling;
  /** The sibling's own key. */
  readonly key: string;
}

/** Finds the sibling that a key of a composed surface belongs to: the text before one of its dots names it. */
export function splitKey<TSibling>(
  key: string,
  siblings: ReadonlyMap<string, TSibling>,
): SplitKey<TSibling> | undefined {
  // A far side may send any text, full of dots.
  if (key.length > maxKeyLength) return undefined;
  for (let dot = key.indexOf("."); dot !== -1; dot = key.indexOf(".", dot + 1)) {
    const sibling = siblings.get(key.slice(0, dot));
    if (sibling !== undefined) return { sibling, key: key.slice(dot + 1) };
  }
  return undefined;
}

/** One channel of several. Its members are those of a composed surface; the key tells whose a member is. */
export class SiblingChannel implements SurfaceChannel {
  readonly #channels: ReadonlyMap<string, SurfaceChannel>;

  /** @param channels - by the text before the keys of a sibling. */
  constructor(channels: ReadonlyMap<string, SurfaceChannel>) {
    this.#channels = channels;
  }

  request(operation: Operation<RequestVerb>): unknown {
    const { sibling, key } = this.#find(operation.member);
    return sibling.request(withMember(operation, key));
  }

  subscribe(operation: Operation<SubscribeVerb>): AsyncIterable<unknown> {
    const { sibling, key } = this.#find(operation.member);
    return sibling.subscribe(withMember(operation, key));
  }

  #find(member: string): SplitKey<SurfaceChannel> {
    const found = splitKey(member, this.#channels);
    if (found !== undefined) return found;
    throw new SurfaceError("UNKNOWN_MEMBER", `Using "${member}": none of the siblings has such a member`);
  }
}

/** Returns the same operation on another member. Field by field: every operation on siblings passes here. */
export function withMember<TVerb extends RequestVerb | SubscribeVerb>(
  { verb, argument, options }: Operation<TVerb>,
  member: string,
): Operation<TVerb> {
  return { verb, member, argument, options };
}
