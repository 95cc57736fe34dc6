import type { HistoryPage } from "../../src/inspector/messages.ts";
import { messageOf } from "../requests.ts";
import { addRows, type Gap, keptRows } from "./history-rows.ts";
import type { PageData } from "./page-data.ts";

/** The most rows of one request. */
const pageRows = 500;

/** The parts of the page that the loader uses. */
export interface OlderRowsDeps {
  readonly load: (query: Readonly<Record<string, string>>) => Promise<HistoryPage>;
  readonly changed: () => void;
}

/** Filters that the server knows: exact names. */
export type ServerFilters = Readonly<Partial<Record<"tool" | "caller" | "outcome", string>>>;

/** Loads rows that the page does not have: older ones, those of a gap, and those that match filters. */
export class OlderRows {
  error: string | undefined;
  isLoading = false;
  readonly #data: PageData;
  readonly #deps: OlderRowsDeps;
  /** Where the rows of each combination of filters go on; `undefined` at their end. */
  readonly #next = new Map<string, number | undefined>();
  #instance: string | undefined;

  constructor(data: PageData, deps: OlderRowsDeps) {
    this.#data = data;
    this.#deps = deps;
  }

  /** Whether the server may have rows that the page does not. */
  hasMore(filters: ServerFilters): boolean {
    const { history, oldest } = this.#data;
    if (history.length >= keptRows) return false;
    const key = this.#keyOf(filters);
    if (key !== "") return !this.#next.has(key) || this.#next.get(key) !== undefined;
    const first = history[0];
    return first !== undefined && oldest > 0 && first.seq > oldest;
  }

  /** Loads the next rows that match the filters. */
  async loadMore(filters: ServerFilters): Promise<void> {
    const key = this.#keyOf(filters);
    const before = key === "" ? this.#data.history[0]?.seq : this.#next.get(key);
    const page = await this.#load({ ...filters, ...(before !== undefined && { before: String(before) }) });
    if (page !== undefined && key !== "") this.#next.set(key, page.before);
  }

  /** Loads rows of a gap, newest first. */
  async fill({ from, to }: Gap): Promise<void> {
    await this.#load({ before: String(to + 1), limit: String(Math.min(pageRows, to - from + 1)) });
  }

  #keyOf(filters: ServerFilters): string {
    if (this.#instance !== this.#data.app?.instance) {
      this.#instance = this.#data.app?.instance;
      this.#next.clear();
    }
    return new URLSearchParams(filters).toString();
  }

  async #load(query: Readonly<Record<string, string>>): Promise<HistoryPage | undefined> {
    if (this.isLoading) return undefined;
    this.isLoading = true;
    this.#deps.changed();
    const instance = this.#data.app?.instance;
    try {
      const page = await this.#deps.load({ limit: String(pageRows), ...query });
      this.error = undefined;
      // The server may have started again meanwhile: the numbers of its rows too.
      if (instance !== this.#data.app?.instance) return undefined;
      addRows(this.#data.history, page.rows.toReversed());
      return page;
    } catch (error) {
      this.error = messageOf(error);
      return undefined;
    } finally {
      this.isLoading = false;
      this.#deps.changed();
    }
  }
}
