import { createMemoryContext } from "../../../src/catalog/context/memory-context.ts";
import type { Job, Jobs } from "../../../src/catalog/context/memory-context.ts";

/** What somebody does to jobs, or that time passes. */
export type JobStep =
  | { readonly kind: "enqueue"; readonly id: number }
  | { readonly kind: "claim"; readonly leaseMs: number }
  | { readonly kind: "ack" | "fail" | "extend"; readonly at: number }
  | { readonly kind: "pass"; readonly ms: number };

interface Claim {
  readonly job: Job;
  until: number;
  isOver: boolean;
}

/** Does the same to jobs as they are and to what they must be, and notes where those differ. */
export class JobsModel {
  readonly wrong: string[] = [];
  readonly #jobs: Jobs;
  readonly #claims: Claim[] = [];
  readonly #added = new Set<string>();
  readonly #done = new Set<string>();
  #now = 0;

  constructor() {
    this.#jobs = createMemoryContext({ clock: { now: () => this.#now, after: () => () => {} } }).jobs;
  }

  run(step: JobStep): void {
    switch (step.kind) {
      case "enqueue":
        return this.#enqueue(`${step.id}`);
      case "claim":
        return this.#claim(step.leaseMs);
      case "pass":
        this.#now += step.ms;
        return;
      default:
        return this.#settle(step.kind, this.#claims[step.at]);
    }
  }

  /** None may be lost: each waits, is held, was given up or done. */
  end(): void {
    const found = this.#jobs.waiting + this.#held().length + this.#jobs.dead().length + this.#done.size;
    this.#hold(found === this.#added.size, `${found} of ${this.#added.size} are left`);
  }

  #enqueue(id: string): void {
    if (!this.#jobs.enqueue(id, id)) return;
    this.#hold(!this.#done.has(id), `${id} was done, and is added`);
    this.#added.add(id);
  }

  #claim(leaseMs: number): void {
    const job = this.#jobs.claim(leaseMs);
    if (job === undefined) return this.#hold(this.#jobs.waiting === 0, "some wait, and none is taken on");
    const isHeld = this.#held().some((claim) => claim.job.id === job.id);
    this.#hold(!isHeld && !this.#done.has(job.id) && job.attempt <= 5, `${job.id} is taken on once too often`);
    this.#claims.push({ job, until: this.#now + leaseMs, isOver: false });
  }

  #settle(kind: "ack" | "fail" | "extend", claim: Claim | undefined): void {
    if (claim === undefined) return;
    const isMine = !claim.isOver && claim.until > this.#now;
    const answered = kind === "extend" ? claim.job.extend(10) : claim.job[kind]();
    this.#hold(answered === isMine, `${kind} of ${claim.job.id} says ${answered}`);
    if (!isMine) return;
    if (kind === "extend") claim.until = this.#now + 10;
    else claim.isOver = true;
    if (kind === "ack") this.#done.add(claim.job.id);
  }

  #held(): readonly Claim[] {
    return this.#claims.filter((claim) => !claim.isOver && claim.until > this.#now);
  }

  #hold(isRight: boolean, what: string): void {
    if (!isRight) this.wrong.push(what);
  }
}
