import { randomUUID } from "node:crypto";
import type { ApprovalDecision } from "../call/approvals.ts";
import type { InspectedApp } from "../mcp/inspected-app.ts";
import type { Observation, QuestionAsked, Refused, WorkEnd, WorkStart } from "../observe/observation.ts";
import type { Redactor } from "../observe/redact-secrets.ts";
import { toDefined } from "../observe/to-defined.ts";
import type { ReadWork, WorkOutcome, WorkReader } from "../observe/work-records.ts";
import { setNewest } from "../spine/collections.ts";
import type { Clock } from "../spine/clock.ts";
import { internalError, type FaultReporter } from "../surface/fault.ts";
import { Listeners } from "../surface/listeners.ts";
import { systemClock } from "../surface/system-clock.ts";
import { Clients } from "./clients.ts";
import { ExposureTable } from "./exposure.ts";
import { History, maxHistory, newestRows, parentOf, type HistoryFilter } from "./history.ts";
import type {
  ExposureRow,
  HistoryPage,
  PageEntry,
  PageExposure,
  PageSnapshot,
  PageState,
  ShownApp,
} from "./messages.ts";
import { OpenQuestions } from "./questions.ts";
import { listRunning } from "./running-calls.ts";
import { toBoundValue, toName, type BoundValue } from "./texts.ts";
import { Totals } from "./totals.ts";
import { Updates, type Parts } from "./updates.ts";
import { WatchedValues } from "./values.ts";

/** Characters of JSON of the arguments, and of the result, of one call. */
const maxValueLength = 8192;

/** Running requests and calls whose arguments are kept. */
const maxArguments = 2000;

/** Milliseconds by which the clock of the machine may differ from the one of this inspector before it was set. */
const maxDriftMs = 2000;

/** Options of {@link Inspector}. */
export interface InspectorOptions {
  /** @default the clock of this machine */
  readonly clock?: Clock;
  /** The number of rows of the history. @default 10_000, and at most 100_000 */
  readonly history?: number | undefined;
  /** Redacts arguments, results and values. @default pages get none */
  readonly values?: Redactor | undefined;
  /** Whether pages may decide confirmations. @default false */
  readonly approve?: boolean | undefined;
  /** Receives errors of the functions that `subscribe` was called with. */
  readonly report: FaultReporter;
}

/** Collects what the live page shows. Its opener closes it. */
export class Inspector {
  readonly #app: InspectedApp;
  readonly #clock: Clock;
  readonly #options: InspectorOptions;
  readonly #instance: string = randomUUID();
  readonly #history: History;
  readonly #totals = new Totals();
  readonly #clients = new Clients();
  readonly #questions = new OpenQuestions();
  readonly #values: WatchedValues;
  readonly #exposure: ExposureTable;
  /** Arguments of running requests and calls, by the ids of their records. */
  readonly #arguments = new Map<string, BoundValue>();
  /** Running requests and calls that asked a person, by the ids of their records. */
  readonly #waited = new Map<string, true>();
  readonly #listeners = new Listeners<string>();
  readonly #updates: Updates;
  #stop: (() => void) | undefined;
  /** Unix time when the clock was 0. */
  #epoch: number;

  constructor(app: InspectedApp, options: InspectorOptions) {
    const { clock = systemClock, history = 10_000, values, approve = false, report } = options;
    this.#app = app;
    this.#clock = clock;
    this.#options = options;
    this.#epoch = Date.now() - clock.now();
    this.#history = new History(Math.min(Math.max(1, Math.floor(history)), maxHistory), app.parts.calls.prefix);
    this.#values = new WatchedValues(app, values);
    this.#exposure = new ExposureTable(app);
    const tell = (json: string): void =>
      this.#listeners.tell(json, (cause) => void internalError(cause, "a live page", report));
    this.#updates = new Updates({ clock, parts: this.#parts, history: this.#history, tell });
    const { observers, calls, approvals } = app.parts;
    const record = (observation: Observation): void => this.#record(observation);
    // Arguments and results are in records only.
    const stop = values === undefined ? observers.add({ record }, this.#reader) : observers.add({ record, values });
    calls.progressReaders += 1;
    // Updates are read at their own pace.
    const closeApprovals = approve ? approvals.open({ changed() {} }) : undefined;
    this.#stop = () => {
      stop();
      closeApprovals?.();
      calls.progressReaders -= 1;
    };
  }

  /** Returns everything as of now. */
  snapshot(): PageSnapshot {
    const { clients, calls, questions, approvals, links, values, seconds, tools, refusals, exposure } = this.#parts;
    return {
      ...{ at: Date.now(), app: this.#toApp(), oldest: this.#history.oldest },
      ...{ clients: clients.read(), calls: calls.read(), questions: questions.read(), approvals: approvals.read() },
      ...{ links: links.read(), values: values.read(), seconds: seconds.read(), tools: tools.read() },
      ...{ refusals: refusals.read(), exposure: exposure.read() },
      history: this.#history.after(0, newestRows),
    };
  }

  /** Calls `tell` with the JSON text of each update, the same for all: at most ten a second. Returns a function that ends it. */
  subscribe(tell: (json: string) => void): () => void {
    if (this.#stop === undefined) return () => {};
    const leave = this.#listeners.add(tell);
    this.#updates.start();
    return () => {
      leave();
      if (this.#listeners.size === 0) this.#updates.stop();
    };
  }

  /** Returns rows that match the filters, newest first. */
  history(filter: HistoryFilter): HistoryPage {
    return this.#history.page(filter);
  }

  /** Returns what agents can reach. Computed once for each version. */
  exposure(): PageExposure {
    return this.#exposure.read();
  }

  /** Returns an entry exactly as a list shows it. @param kind - @default the first kind that has an entry of this id */
  entry(id: string, kind?: ExposureRow["kind"]): PageEntry | undefined {
    return this.#exposure.entry(id, kind);
  }

  /** Ends a running call, whose client gets the answer of a cancelled call. Returns `false` if no such call runs. */
  cancel(call: string): boolean {
    return this.#app.parts.calls.cancel(call);
  }

  /** Decides a confirmation. Returns `false` if none of this id waits, or pages may not decide. */
  decide(approval: string, decision: ApprovalDecision): boolean {
    return this.#options.approve === true && this.#app.parts.approvals.decide(approval, decision);
  }

  /** Stops collecting, and ends all subscriptions. Callable twice. */
  close(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#updates.stop();
    this.#listeners.clear();
  }

  #toApp(): ShownApp {
    const { name, version, title } = this.#app.parts.info;
    const { approve = false, values } = this.#options;
    return toDefined({
      ...{ name: toName(name), version: toName(version), title: title === undefined ? undefined : toName(title) },
      ...{ instance: this.#instance, approve, values: values !== undefined },
    });
  }

  readonly #parts: Parts = {
    calls: { read: () => listRunning(this.#app.parts.calls, (record) => this.#arguments.get(record)?.value) },
    questions: { read: () => this.#questions.list(this.#clock.now()) },
    approvals: { read: () => (this.#options.approve === true ? this.#app.parts.approvals.waiting() : []) },
    links: { read: () => this.#links() },
    exposure: { read: () => this.#app.version },
    clients: { read: () => this.#clients.list(this.#clock.now(), this.#toUnix), isSlow: true },
    values: { read: () => this.#values.list(this.#clock.now()), isSlow: true },
    seconds: { read: () => this.#totals.seconds(this.#clock.now(), this.#toUnix), isSlow: true },
    tools: { read: () => this.#totals.tools, isSlow: true },
    refusals: { read: () => this.#totals.refusals, isSlow: true },
  };

  #links(): PageState["links"] {
    const { surface, isLinked } = this.#app.parts;
    if (!isLinked) return [];
    return [{ surface: toName(surface.name), ...this.#app.link }];
  }

  /** Converts a time of the clock. All times move together when the clock of the machine is set. */
  readonly #toUnix = (time: number): number => {
    const epoch = Date.now() - this.#clock.now();
    if (Math.abs(epoch - this.#epoch) > maxDriftMs) this.#epoch = epoch;
    return Math.floor(this.#epoch + time);
  };

  readonly #reader: WorkReader = (work, outcome, endedAt) => {
    if (outcome !== undefined) this.#endedWork(work, outcome, endedAt);
    else if (work.method !== undefined) this.#clients.requested(work, work.startedAt);
  };

  #endedWork(work: ReadWork, ended: WorkOutcome, endedAt: number): void {
    const { method } = work;
    const ms = endedAt - work.startedAt;
    if (method === undefined || method === "tools/call") {
      const waited = this.#waited.size > 0 && this.#hasWaited(work.id, work.callId);
      this.#totals.add({ outcome: ended.outcome, ms, operation: work.operation, waited }, endedAt);
    }
    this.#history.addWork(work, ended, ms);
  }

  /** Returns whether a request or call waited for a person, once. */
  #hasWaited(id: string, callId = ""): boolean {
    return [id, callId].filter((one) => this.#waited.delete(one)).length > 0;
  }

  #record(record: Observation): void {
    switch (record.type) {
      case "request-start":
        this.#clients.requested(record, this.#clock.now());
        return this.#started(record);
      case "call-start":
        return this.#started(record);
      case "request-end":
      case "call-end":
        return this.#ended(record);
      case "refused":
        this.#totals.refused(record.stage);
        return this.#history.add(record);
      default:
        return this.#recordOther(record);
    }
  }

  /** Changes of the link and of mounts are read from the app, which knows more. */
  #recordOther(record: Exclude<Observation, WorkStart | WorkEnd | Refused>): void {
    switch (record.type) {
      case "session-start":
        return this.#clients.started(record, this.#clock.now());
      case "session-end":
        return this.#clients.ended(record);
      case "stream-start":
      case "stream-end":
        return this.#clients.streams(record, this.#clock.now());
      case "question-asked":
        return this.#asked(record);
      case "question-answered":
        return this.#questions.answered(record);
      case "link-up":
      case "link-down":
      case "mount-change":
    }
  }

  #asked(asked: QuestionAsked): void {
    // The calls around a nested one waited, too.
    for (let id = asked.parent; id !== ""; id = parentOf(id)) setNewest(this.#waited, [id, true], maxArguments);
    // Pages that may decide it show it as an approval.
    if (asked.decidedOn !== undefined && this.#options.approve === true) return;
    this.#questions.asked(asked, this.#clock.now());
  }

  #started({ id, arguments: given }: WorkStart): void {
    if (given !== undefined) setNewest(this.#arguments, [id, toBoundValue(given, maxValueLength)], maxArguments);
  }

  #ended(end: WorkEnd): void {
    const { outcome, ms, operation } = end;
    const waited = this.#hasWaited(end.id, "callId" in end ? end.callId : undefined);
    if (end.type === "call-end" || end.method === "tools/call")
      this.#totals.add({ outcome, ms, operation, waited }, this.#clock.now());
    if (this.#options.values === undefined) return this.#history.add(end);
    const { result, ...kept } = end;
    const given = this.#arguments.get(end.id);
    this.#arguments.delete(end.id);
    const bound = result === undefined ? undefined : toBoundValue(result, maxValueLength);
    this.#history.add(kept, { arguments: given, result: bound });
  }
}
