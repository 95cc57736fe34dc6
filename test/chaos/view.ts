import type { McpServerProcess } from "./mcp-server-process.ts";
import type { ViewHistory } from "./history.ts";
import { now } from "./now.ts";
import { lateUris } from "./surface.ts";
import { textOf } from "./to-answer.ts";

/** How long a read may take. */
export const readDeadlineMs = 5000;

/** What a read of something that is not there is refused with. */
const absentOutcome = "ABSENT";

let lastRead = 0;

/** Reads a resource through the face: its text, `null` where nothing is there, `undefined` where it failed. */
export async function readResource(face: McpServerProcess, uri: string): Promise<string | null | undefined> {
  lastRead += 1;
  const mayBeAbsent = lateUris.has(uri);
  const id = `read${lastRead}`;
  const question = { id, sort: "read", what: uri, deadlineMs: readDeadlineMs } as const;
  const asked = await face.ask({ ...question, method: "resources/read", params: { uri } });
  const [answer] = asked.answers;
  if (mayBeAbsent && answer?.outcome === absentOutcome) {
    // That there is nothing is an answer.
    asked.answers[0] = { ...answer, outcome: "ok" };
    return null;
  }
  return textOf(answer?.result);
}

/** What somebody knows of one URI who reads it again whenever told that there is something new. */
export class View {
  readonly name: string;
  readonly uri: string;
  readonly #read: () => Promise<string | null | undefined>;
  #notices: number[] = [];
  #joins: number[] = [];
  #reads: { readonly at: number; readonly text: string | null }[] = [];
  #text: string | null | undefined;
  #isReading = false;
  #isDirty = false;

  constructor(name: string, uri: string, read: () => Promise<string | null | undefined>) {
    this.name = name;
    this.uri = uri;
    this.#read = read;
  }

  /** What it takes for the newest value. */
  get text(): string | null | undefined {
    return this.#text;
  }

  /** There is something new. */
  announce(): void {
    this.#notices.push(now());
    this.#look();
  }

  /** From here on it is told of changes: what came before is read once. */
  join(): void {
    this.#joins.push(now());
    this.#look();
  }

  /** Reads, once more where it reads already. */
  #look(): void {
    this.#isDirty = true;
    if (!this.#isReading) void this.#readAll();
  }

  /** What it saw since this was last taken. */
  take(): ViewHistory {
    const { name, uri } = this;
    const taken = { name, uri, joins: this.#joins, notices: this.#notices, reads: this.#reads, text: this.#text };
    this.#joins = [];
    this.#notices = [];
    this.#reads = [];
    return taken;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#isDirty) {
      this.#isDirty = false;
      const text = await this.#read();
      // A read that failed is found by whoever judges the reads.
      if (text === undefined) continue;
      this.#text = text;
      this.#reads.push({ at: now(), text });
    }
    this.#isReading = false;
  }
}
