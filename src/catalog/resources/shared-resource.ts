import { Backoff } from "../../spine/backoff.ts";
import type { Clock, Random } from "../../spine/clock.ts";
import type { Watcher } from "../../spine/subscriptions.ts";
import type { Mark } from "./watched-resource.ts";

/** A change that a replica has seen, as it tells the others. */
export interface ChangeNotice {
  /** Identifies the newest value; `undefined` if texts may have been lost, so that no value is known. */
  readonly digest: string | undefined;
  /** Whether the value may have been another one in between. */
  readonly isRepeated: boolean;
}

/** A watch of a resource for other replicas, beside the watches of callers. */
export interface SharedWatchHandle {
  /** The newest position; `undefined` while the newest value is not known. */
  readonly mark: Mark | undefined;
  /** Whether the resource is of another process, which tells every replica itself. */
  readonly isRemote: boolean;
  /** Reads the source again, perhaps later, and opens the watch of it again. Announces nothing. */
  reopen(): void;
  /** Announces a change of which the source has told nothing. */
  announce(): void;
  end(): void;
}

/** Dependencies of a {@link SharedResource}. */
export interface SharedResourceDeps {
  /** Starts the watch. */
  readonly follow: (watcher: Watcher) => SharedWatchHandle;
  readonly clock: Clock;
  readonly random: Random;
  /** Called once with the first value. */
  opened(resource: SharedResource): void;
  /** Receives the changes that other replicas may not know of, as the throttle of the resource allows. */
  changed(notice: ChangeNotice): void;
}

/**
 * Delays until a replica tells of a value other than the one that it was told of, in milliseconds. They grow until a value agrees:
 * sources that have another value in each process, or at each read, never do.
 */
const contradiction = { baseMs: 100, capMs: 60_000, stableMs: 0 } as const;

/** A resource whose changes travel between replicas. Call `end()` when done. */
export class SharedResource implements Watcher {
  readonly #deps: SharedResourceDeps;
  readonly #watch: SharedWatchHandle;
  readonly #backoff: Backoff;
  #stopTimer: (() => void) | undefined;
  /** The position that was seen last. */
  #seen: Mark | undefined;
  /** The notice after which the stream was opened again; set until its first value has come. */
  #asked: ChangeNotice | undefined;
  /** Notices that came while no value was known, as one. */
  #late: ChangeNotice | undefined;
  /** Whether another replica has last seen a value that the source here did not have. */
  #isBehind = false;
  /** Whether the source has failed since its last value. */
  #hasFailed = false;
  /** A change here that the others do not know of. */
  #untold: ChangeNotice | undefined;
  /** A notice that was to be sent while no value was known. */
  #owed: ChangeNotice | undefined;

  constructor(deps: SharedResourceDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff({ ...contradiction, ...deps });
    this.#watch = deps.follow(this);
  }

  get isRemote(): boolean {
    return this.#watch.isRemote;
  }

  /** Whether a value was seen. */
  get isOpen(): boolean {
    return this.#seen !== undefined;
  }

  end(): void {
    this.#agree();
    this.#watch.end();
  }

  /**
   * Tells the other replicas which value is the newest here. Waits while that is not known: a replica that has just seen the former value
   * change would take it for the newest one.
   */
  tell(isRepeated = false): void {
    const mark = this.#known;
    if (mark === undefined)
      this.#owed = { digest: undefined, isRepeated: isRepeated || this.#owed?.isRepeated === true };
    else this.#deps.changed({ digest: mark.digest, isRepeated });
  }

  /** Compares a notice of another replica with the newest value: reads the source again if that differs. */
  receive(notice: ChangeNotice): void {
    const mark = this.#known;
    if (mark === undefined) {
      this.#late = this.#late === undefined ? notice : { digest: this.#late.digest && notice.digest, isRepeated: true };
      return;
    }
    if (notice.digest === mark.digest) {
      this.#agree();
      if (notice.isRepeated || this.#isBehind) this.#relay();
      return;
    }
    this.#asked = notice;
    this.#watch.reopen();
    // The stream has ended: its value is final.
    if (this.#watch.mark !== undefined) this.#asked = undefined;
  }

  moved(): void {
    const { mark, isRemote } = this.#watch;
    if (mark === undefined) {
      this.#hasFailed ||= this.#asked === undefined && this.#seen !== undefined;
      return;
    }
    const before = this.#seen;
    this.#seen = mark;
    if (before === undefined) this.#deps.opened(this);
    else this.#compare(before, mark);
    if (isRemote) return;
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) this.receive(late);
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined) this.tell(owed.isRepeated);
  }

  changed(): void {
    const notice = this.#untold;
    this.#untold = undefined;
    if (notice !== undefined) this.tell(notice.isRepeated);
  }

  /** The newest position, unless the stream is being opened. */
  get #known(): Mark | undefined {
    return this.#asked === undefined ? this.#watch.mark : undefined;
  }

  #compare(before: Mark, { digest }: Mark): void {
    const isSame = before.digest === digest;
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked === undefined) {
      if (isSame && !this.#hasFailed) return;
      this.#untold = { digest, isRepeated: this.#hasFailed || this.#untold !== undefined };
      this.#hasFailed = false;
      return;
    }
    if (asked.digest === undefined || asked.digest === digest || !isSame) this.#relay();
    else this.#isBehind = true;
    // Changes here may have looked like none to a source that had not heard of others.
    if (asked.digest === undefined) this.#owed = { digest, isRepeated: true };
    else if (asked.digest === digest) this.#agree();
    else this.#contradict();
  }

  /**
   * Tells the others of the value here in a while, unless another replica does. Its source may have announced nothing: the value was the
   * same to it as the last one, or its stream was closed to open it again.
   */
  #contradict(): void {
    this.#stopTimer ??= this.#deps.clock.after(this.#backoff.next(), () => {
      this.#stopTimer = undefined;
      // A watcher may have read the value that the other replica saw.
      if (this.#isBehind) this.#relay();
      this.tell();
    });
  }

  #agree(): void {
    this.#backoff.up();
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Announces a change here that another replica has told of. */
  #relay(): void {
    this.#isBehind = false;
    this.#watch.announce();
  }
}
