import type { Reply } from "../../src/spine/request.ts";
import type { SimKey } from "./sim-key.ts";
import type { SimLink } from "./sim-link.ts";
import type { SimPair } from "./sim-pair.ts";

/** What a request is answered with. */
export interface SimAnswer {
  readonly request: number;
  readonly principal: number;
  readonly version: number;
}

/** One request of a client. */
export class SimRequest {
  readonly id: number;
  readonly kind: "read" | "mutation";
  readonly key: SimKey;
  readonly patienceMs: number;
  /** The pair that reads again because it was told to. */
  readonly reader: SimPair | undefined;
  sends = 0;
  lastLink = 0;
  sending: SimSending | undefined;
  /** When it first had no link. */
  waitingSince: number | undefined;
  isOver = false;
  isCancelled = false;
  /** How often the far side did it. */
  applied = 0;
  cancel: (() => void) | undefined;

  constructor(id: number, traits: Pick<SimRequest, "kind" | "key" | "patienceMs" | "reader">) {
    this.id = id;
    this.kind = traits.kind;
    this.key = traits.key;
    this.patienceMs = traits.patienceMs;
    this.reader = traits.reader;
  }
}

/** One sending of a request over one link. */
export class SimSending {
  readonly request: SimRequest;
  readonly link: SimLink;
  readonly reply: Reply<SimAnswer>;
  /** Answered, refused or lost, or its caller has cancelled it. */
  isOver = false;
  /** Whether the spine was told what became of it. */
  isTold = false;

  constructor(request: SimRequest, link: SimLink, reply: Reply<SimAnswer>) {
    this.request = request;
    this.link = link;
    this.reply = reply;
  }
}
