import {
  ConnectionManager,
  type Dial,
  type DialEvents,
  type HeldLink,
  type ConnectionUser,
} from "../../../src/spine/connection-manager.ts";
import { SimClock } from "../../sim/sim-clock.ts";

/** A link that counts how often it is closed. */
export class FakeLink implements HeldLink {
  readonly name: string;
  closes = 0;
  onClose: () => void = () => {};

  constructor(name: string) {
    this.name = name;
  }

  close(): void {
    this.closes += 1;
    this.onClose();
  }
}

/** What a test does with one attempt. */
export interface FakeAttempt extends DialEvents<FakeLink> {
  readonly isAbandoned: () => boolean;
}

/** A far side that does what a test says, under a clock that goes when it says. */
export class FarEnd {
  readonly clock = new SimClock();
  readonly attempts: FakeAttempt[] = [];
  /** Runs within dial(). */
  onDial: (events: DialEvents<FakeLink>) => void = () => {};
  onAbandon: () => void = () => {};
  readonly holder: ConnectionManager<FakeLink>;

  constructor(idleMs = 0) {
    const dial: Dial<FakeLink> = (events) => {
      let isAbandoned = false;
      this.attempts.push({ ...events, isAbandoned: () => isAbandoned });
      this.onDial(events);
      return () => {
        isAbandoned = true;
        this.onAbandon();
      };
    };
    this.holder = new ConnectionManager({
      what: "it",
      dial,
      clock: this.clock.lane("holder"),
      random: () => 0,
      idleMs,
    });
  }

  /** The newest attempt. */
  get attempt(): FakeAttempt {
    const attempt = this.attempts.at(-1);
    if (attempt === undefined) throw new Error("nothing was dialled");
    return attempt;
  }

  /** Opens the newest attempt. */
  open(name = `link ${this.attempts.length}`): FakeLink {
    const link = new FakeLink(name);
    this.attempt.opened(link);
    return link;
  }

  /** Lets time pass, firing what is due on the way. */
  pass(ms: number): void {
    const until = this.clock.elapsed + ms;
    for (let next = this.clock.next(); next !== undefined && next.due <= until; next = this.clock.next()) {
      this.clock.elapsed = Math.max(this.clock.elapsed, next.due);
      this.clock.fire(next);
    }
    this.clock.elapsed = until;
  }
}

/** A user that writes down what it is told. */
export class FakeUser implements ConnectionUser<FakeLink> {
  readonly told: string[] = [];
  wants = true;
  patient: boolean;
  /** Runs whenever it is told something. */
  onTold: (what: string) => void = () => {};

  constructor(patient = true) {
    this.patient = patient;
  }

  isPatient(): boolean {
    return this.patient;
  }

  live(link: FakeLink, generation: number): void {
    this.#tell(`live ${link.name} ${generation}`);
  }

  down(generation: number): void {
    this.#tell(`down ${generation}`);
  }

  ended(generation: number): void {
    this.#tell(`ended ${generation}`);
  }

  unreachable(cause: unknown): void {
    this.#tell(`unreachable ${String(cause)}`);
  }

  #tell(what: string): void {
    this.told.push(what);
    this.onTold(what);
  }
}
