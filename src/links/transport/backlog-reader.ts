import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from "vscode-jsonrpc/node";
import { SurfaceError } from "../../errors.ts";
import { fitsDepth, maxDepth } from "./fits-depth.ts";
import { fitsValues, maxValues } from "./fits-values.ts";

/** What a {@link BacklogReader} tells its transport. */
export interface ReaderEvents {
  /** Whether so much is unread that nothing more should be pushed for now. */
  backlog(isHeavy: boolean): void;
  /** It has told the end: what is pushed from now on is dropped. */
  over(): void;
}

const heavyBacklog = 1024 * 1024;
/** What a text costs besides its characters. */
const textCost = 64;

function parse(text: string): object | undefined {
  if (!fitsDepth(text) || !fitsValues(text)) return undefined;
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === "object" && message !== null && !Array.isArray(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Hands on the texts of messages as objects, and keeps them while it is paused: a transport goes on being read up to a
 * bound, since the end of one that is not read would not be seen. What has come before the end is handed on before the
 * end is told.
 */
export class BacklogReader extends AbstractMessageReader {
  /** Characters of the message that is being handed on. */
  size = 0;
  readonly #events: ReaderEvents;
  #texts: string[] = [];
  #backlog = 0;
  #isHeavy = false;
  #isPaused = false;
  #isReading = false;
  #isDropping = false;
  #isOver = false;
  #callback: DataCallback | undefined;
  #end: { readonly cause: Error | undefined } | undefined;

  constructor(events: ReaderEvents) {
    super();
    this.#events = events;
  }

  /** What arrives goes to `callback` from the next turn on; what has arrived before was kept, the end too. */
  listen(callback: DataCallback): Disposable {
    // Whoever listens can say something first, and hears by its failure why there is nobody to be heard.
    setImmediate(() => {
      this.#callback = callback;
      this.#read();
    });
    return { dispose: () => this.drop() };
  }

  /** Takes the text of a message. */
  push(text: string): void {
    if (this.#end !== undefined || this.#isDropping) return;
    this.#texts.push(text);
    this.#weigh(text.length + textCost);
    this.#read();
  }

  /** Nothing follows. The first cause counts; none is an orderly end. */
  end(cause?: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { cause };
    this.#read();
  }

  /** Drops what has come and what comes; the end is still told. */
  drop(): void {
    this.#isDropping = true;
    this.#texts = [];
    this.#weigh(-this.#backlog);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#read();
  }

  override dispose(): void {
    this.drop();
    super.dispose();
  }

  #weigh(more: number): void {
    this.#backlog += more;
    const isHeavy = this.#backlog > (this.#isHeavy ? heavyBacklog / 2 : heavyBacklog);
    if (isHeavy === this.#isHeavy) return;
    this.#isHeavy = isHeavy;
    this.#events.backlog(isHeavy);
  }

  /** Never runs inside itself: `resume()` in a callback lets the loop that is under way go on. */
  #read(): void {
    if (this.#isReading || this.#callback === undefined) return;
    this.#isReading = true;
    // After the end nothing resumes it, and what is left is little.
    while (!this.#isPaused || this.#end !== undefined) {
      const text = this.#texts.shift();
      if (text === undefined) break;
      this.#weigh(-text.length - textCost);
      this.#deliver(text, this.#callback);
    }
    this.#isReading = false;
    if (this.#end !== undefined) this.#finish(this.#end.cause);
  }

  #deliver(text: string, callback: DataCallback): void {
    const message = parse(text);
    this.size = text.length;
    // Which methods there are, and what they take, is judged by whoever listens.
    if (message !== undefined) return callback(message as Message);
    this.drop();
    const problem = `a message must be a JSON object of at most ${maxDepth} levels and ${maxValues} values`;
    this.#end = { cause: new SurfaceError("PROTOCOL_MISMATCH", `Reading from a link: ${problem}`) };
  }

  #finish(cause: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (cause !== undefined) this.fireError(cause);
    this.fireClose();
    this.#events.over();
  }
}
