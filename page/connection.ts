import type { PageSnapshot, PageUpdate } from "../src/inspector/messages.ts";
import type { PageData } from "./data/page-data.ts";
import { postJson } from "./requests.ts";

/** Milliseconds until the next attempt after the browser gave up a stream. */
const retryMs = 2_000;

/** Takes the entry token out of the address, so that it is neither seen nor kept in the history of the browser. */
function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return undefined;
  history.replaceState(null, "", `${location.pathname}#now`);
  return token;
}

/** The stream of messages. It goes on after errors, until the server refuses the page. */
export class Connection {
  readonly #data: PageData;
  readonly #changed: () => void;
  #source: EventSource | undefined;
  #retry: number | undefined;

  constructor(data: PageData, changed: () => void) {
    this.#data = data;
    this.#changed = changed;
  }

  /** Exchanges the token of the address for a cookie if there is one, and connects. */
  async open(): Promise<void> {
    const token = takeToken();
    if (token !== undefined) {
      // A token that was used is no reason to stop: this browser may have its cookie from then.
      await postJson("enter", { token }).catch(() => undefined);
    }
    this.#connect();
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#source?.close();
    const source = new EventSource("events");
    this.#source = source;
    source.addEventListener("snapshot", ({ data }: MessageEvent<string>) => {
      // The server of this page wrote it, by the same contract.
      this.#data.applySnapshot(JSON.parse(data) as PageSnapshot);
      this.#become("live");
    });
    source.addEventListener("update", ({ data }: MessageEvent<string>) => {
      // As above.
      this.#data.applyUpdate(JSON.parse(data) as PageUpdate);
      this.#changed();
    });
    source.addEventListener("error", () => {
      if (this.#data.connection === "live") this.#become("reconnecting");
      if (source.readyState === EventSource.CLOSED) void this.#afterEnd();
    });
  }

  /** Asks why the browser gave up the stream: an `EventSource` does not tell the status. */
  async #afterEnd(): Promise<void> {
    const { status } = await fetch("history?limit=1").catch(() => ({ status: 0 }));
    // A server that has restarted refuses the cookie, or has another path.
    if (status > 400 && status < 500) this.#become(this.#data.app === undefined ? "refused" : "ended");
    else this.#retry = window.setTimeout(() => this.#connect(), retryMs);
  }

  #become(state: PageData["connection"]): void {
    this.#data.connection = state;
    this.#changed();
  }
}
