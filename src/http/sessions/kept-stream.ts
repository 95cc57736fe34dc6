/** A message of ours that is to be kept. */
export interface LoggedMessage {
  readonly json: string;
  /** Told where it is thrown away before anybody was sent it. Must not throw. */
  readonly onDropped?: (() => void) | undefined;
  /** Whether it is to be sent still, when somebody comes to read. Left out: it is. */
  readonly isWanted?: (() => boolean) | undefined;
}

/** A message that is kept. */
export interface KeptMessage extends LoggedMessage {
  readonly stream: KeptStream;
  /** How much of it there is, in bytes of JSON. */
  readonly bytes: number;
}

/**
 * What is kept of one stream: a run of messages without a gap, numbered from 1. The oldest go first, so whoever knows the
 * number of the first knows what is missing.
 */
export class KeptStream {
  readonly number: number;
  /** The messages, of which the first has the number {@link first}. */
  readonly messages: KeptMessage[] = [];
  first = 1;
  /** The last that who reads it now was sent. */
  sent = 0;
  /** The last that anybody was sent. */
  reached = 0;
  /** Nothing follows any more. */
  isFinished = false;

  constructor(number: number) {
    this.number = number;
  }

  /** The number of the last message. */
  get last(): number {
    return this.first + this.messages.length - 1;
  }

  /** A message by its number; `undefined` where it is not kept any more, or not there yet. */
  at(seq: number): KeptMessage | undefined {
    return this.messages[seq - this.first];
  }
}
