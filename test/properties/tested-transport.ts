import type { Caller } from "../../src/surface/caller.ts";
import type { JsonObject } from "../../src/schema/json.ts";
import type { RecordedApp } from "./recorded-app.ts";

/** What somebody was told. */
export interface Told {
  /** Everything but the id of the request. */
  readonly text: string;
  readonly isDenied: boolean;
  /** The result, where there is one. */
  readonly result?: JsonObject | undefined;
}

/** One way into an app. Whoever opened it closes it. */
export interface OpenTransport {
  ask(method: string, params: JsonObject): Promise<Told>;
  /** Watches a URI for a moment, in the way of its era. */
  watch(uri: string): Promise<Told>;
  close(): Promise<void>;
}

/** A way into an app that can be opened. */
export interface TestedTransport {
  readonly name: string;
  /** Whether it is told who asks. */
  readonly knowsCaller: boolean;
  /** Whether it says of what is denied that it is not there, where it is watched. */
  readonly hidesWatched: boolean;
  open(app: RecordedApp["app"], caller: Caller | undefined): Promise<OpenTransport>;
}
