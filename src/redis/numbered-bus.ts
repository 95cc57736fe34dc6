import type { Bus, BusListener } from "../cluster/cluster.ts";
import { flag, object, required, text as anyText, wholeNumber } from "../options/option.ts";
import { parseJson } from "../schema/json.ts";

const maxTextBytes = 65_536;
/** Characters of a message on the channel, in which each of a text may be escaped. Longer ones are of another program. */
const maxMessageLength = 1_000_000;
/** Replicas whose numbers are remembered. */
const maxHeard = 4096;

/** A message on the channel: of the replica `from`, its `number` th. Without a topic it is a sign of life. */
interface Message {
  readonly from: string;
  readonly number: number;
  readonly topic?: string;
  readonly text?: string;
  /** Set if the replica failed to publish a message. */
  readonly lost?: boolean;
}

/** What a bus needs. */
export interface BusDeps {
  readonly replica: string;
  /** Publishes a message. Rejects if it may not have arrived. */
  readonly publish: (message: string) => Promise<unknown>;
  /** Receives the first message of another program, which is ignored. */
  readonly onGarbage: () => void;
}

/** Numbers the messages of this replica, and finds those of others that are missing. */
export class NumberedBus implements Bus {
  readonly #deps: BusDeps;
  readonly #listeners = new Map<string, Set<BusListener>>();
  readonly #heard = new Map<string, number>();
  #sent = 0;
  /** Messages that were not published, and those of them that the others know of. */
  #losses = 0;
  #told = 0;
  /** Signs of life of this replica in a row that it did not receive itself. */
  echoesMissing = 0;

  constructor(deps: BusDeps) {
    this.#deps = deps;
  }

  publish(topic: string, text: string): void {
    const message = JSON.stringify({ from: this.#deps.replica, number: ++this.#sent, topic, text });
    const fail = (): void => void this.#losses++;
    if (Buffer.byteLength(text) > maxTextBytes) fail();
    else this.#deps.publish(message).catch(fail);
  }

  subscribe(topic: string, listener: BusListener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    // One listener may subscribe twice.
    const one: BusListener = { message: (text) => listener.message(text), gap: () => listener.gap() };
    listeners.add(one);
    return () => {
      listeners.delete(one);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  /** Returns the next sign of life, and the one that announces a loss. Call `confirm` when one of them was published. */
  beat(): { readonly message: string; readonly messageOfLoss: string; readonly confirm: () => void } {
    const losses = this.#losses;
    const toMessage = (lost: boolean): string => JSON.stringify({ from: this.#deps.replica, number: this.#sent, lost });
    const confirm = (): void => {
      this.#told = losses;
      this.echoesMissing++;
    };
    return { message: toMessage(losses > this.#told), messageOfLoss: toMessage(true), confirm };
  }

  /** Tells all listeners that messages may be lost. */
  gap(): void {
    for (const listeners of [...this.#listeners.values()]) for (const listener of [...listeners]) listener.gap();
  }

  /** Forgets which messages were received. */
  reset(): void {
    this.#heard.clear();
    this.echoesMissing = 0;
  }

  /** Receives what was published on the channel, by this replica too. */
  receive(written: string): void {
    const message = written.length > maxMessageLength ? undefined : readMessage(written);
    if (message === undefined) this.#deps.onGarbage();
    else if (message.from === this.#deps.replica) this.echoesMissing = 0;
    else this.#accept(message);
  }

  #accept({ from, number, topic, text, lost = false }: Message): void {
    if (this.#isMissing(from, number, topic === undefined ? 0 : 1) || lost) this.gap();
    if (topic === undefined || text === undefined) return;
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener.message(text);
  }

  /** Remembers the number of a replica. Returns true if messages before it are missing. The first message of a replica has none. */
  #isMissing(from: string, number: number, step: 0 | 1): boolean {
    const heard = this.#heard.get(from) ?? number - step;
    if (this.#heard.size >= maxHeard) this.#heard.clear();
    this.#heard.set(from, Math.max(number, heard));
    return number > heard + step;
  }
}

const message = object<Message>({
  from: required(anyText),
  number: required(wholeNumber(0)),
  topic: anyText,
  text: anyText,
  lost: flag,
});

function readMessage(written: string): Message | undefined {
  const read = parseJson(written);
  if (message.problem(read, "message") !== undefined) return undefined;
  // The schema has checked every member.
  const found = read as Message;
  return typeof found.topic === typeof found.text ? found : undefined;
}
