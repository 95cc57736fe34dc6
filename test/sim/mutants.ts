import type { Patch } from "../fixtures/patch-sources.ts";

/** A bug that somebody could make, and that the simulator must find. */
export interface Mutant {
  readonly name: string;
  readonly patches: readonly Patch[];
}

function holder(name: string, find: string, replacement: string): Mutant {
  return { name, patches: [{ file: "spine/connection-manager.ts", find, replacement }] };
}

function watch(name: string, find: string, replacement: string): Mutant {
  return { name, patches: [{ file: "spine/subscriptions.ts", find, replacement }] };
}

function request(name: string, find: string, replacement: string): Mutant {
  return { name, patches: [{ file: "spine/request.ts", find, replacement }] };
}

function throttle(name: string, find: string, replacement: string): Mutant {
  return { name, patches: [{ file: "spine/throttle.ts", find, replacement }] };
}

const isStale = `if (state.kind !== "dialing" || state.generation !== generation)`;

/** The bugs, each a change of text that fits once. */
export const mutants: readonly Mutant[] = [
  holder(
    "a link that opens too late is used",
    `${isStale} return link.close();`,
    `if (state.kind !== "dialing") return link.close();`,
  ),
  holder("a link that opens too late is not closed", `${isStale} return link.close();`, `${isStale} return;`),
  holder(
    "a late failure ends the present attempt",
    `${isStale} return;\n    state.stopTimer();\n    this.#bornDead`,
    `if (state.kind !== "dialing") return;\n    state.stopTimer();\n    this.#bornDead`,
  ),
  holder(
    "a late end drops the present link",
    `const wasLive = state.kind === "live" && state.generation === generation;`,
    `const wasLive = state.kind === "live";`,
  ),
  holder(
    "a late announcement drops the present link",
    `if (state.kind !== "live" || state.generation !== generation) return;`,
    `if (state.kind !== "live") return;`,
  ),
  holder(
    "the timer of an attempt is forgotten",
    `state.stopTimer();\n    // A user that joins`,
    `// A user that joins`,
  ),
  holder("nothing is dialled again", `    this.#letGoOfUnused();\n    this.#retry();`, `    this.#letGoOfUnused();`),
  holder(
    "nothing is dialled again after a drop",
    `this.#isDropping = false;\n    this.#retry();`,
    `this.#isDropping = false;`,
  ),
  holder(
    "a link is closed under its users",
    `if (this.#state.kind !== "live" || this.#users.size > 0) return;`,
    `if (this.#state.kind !== "live") return;`,
  ),
  holder(
    "a link that nobody uses is kept",
    `return this.#users.size === 0 ? this.#expectIdle() : undefined;`,
    `return;`,
  ),
  holder(
    "an attempt that nobody wants is not abandoned",
    `    this.#generation += 1;\n    this.#state = { kind: "idle" };\n    this.#release(former);`,
    `    this.#generation += 1;\n    this.#state = { kind: "idle" };`,
  ),
  holder(
    "a timer that nobody wants is kept",
    `return;\n    this.#stopRetry?.();\n    this.#stopRetry = undefined;\n    const former`,
    `return;\n    const former`,
  ),
  holder(
    "the next link is dialled while the last is being told of",
    `"idle" && !this.#isDropping) this`,
    `"idle") this`,
  ),
  holder(
    "a user that joins while a link opens overtakes the others",
    `state.kind === "live" && state.opening === undefined`,
    `state.kind === "live"`,
  ),
  holder("a link that is leaving is kept for nobody", `if (this.#users.size === 0) this.#closeLeaving();`, ``),
  holder(
    "close() leaves an attempt",
    `    this.#release(former);\n    this.#closeLeaving();`,
    `    this.#closeLeaving();`,
  ),
  holder(
    "requests on a link that has gone hear nothing",
    `for (const place of this.#users.list()) if (place.isTaken) place.value.ended(generation);`,
    ``,
  ),
  {
    name: "delays start again each time",
    patches: [
      {
        file: "spine/backoff.ts",
        find: `if (this.#upSince !== undefined && clock.now() - this.#upSince >= stableMs) this`,
        replacement: `this`,
      },
    ],
  },
  {
    name: "delays have no cap",
    patches: [
      {
        file: "spine/backoff.ts",
        find: `Math.min(capMs, baseMs * 2 ** this.#failures)`,
        replacement: `baseMs * 2 ** this.#failures`,
      },
      { file: "spine/backoff.ts", find: `if (longest < capMs) this`, replacement: `this` },
    ],
  },
  request("an answer is given twice", `if (this.#sending !== sending) return false;`, ``),
  request("an answer comes after the cancel", `return !this.#over;`, `return true;`),
  request(
    "a mutation is sent again",
    `return this.#fail(sent ? unknown : this.#createUnavailable(undefined));`,
    `if (sent) return this.#fail(unknown);`,
  ),
  request("a lost mutation passes for one that was never sent", `this.#fail(sent ? unknown : `, `this.#fail(`),
  request(
    "a read is sent again on the link that lost it",
    `if (!this.wants || generation <= this.#lastTried) return;`,
    `if (!this.wants) return;`,
  ),
  request(
    "a read waits without end",
    `if (this.wants) this.#fail(this.#createUnavailable(this.#holder.lastFailure));`,
    ``,
  ),
  request("the timer of a request is forgotten", `    this.#stopPatience?.();\n    this.#leave`, `    this.#leave`),
  watch("what a former stream tells is taken", `if (token === this.#token) tell();`, `tell();`),
  watch(
    "the token is not changed before the stream is stopped",
    `    this.#token += 1;\n    this.#stopRetry?.();`,
    `    this.#stopRetry?.();`,
  ),
  watch("a stream is not stopped", `    this.#stop = undefined;\n    stop?.();`, `    this.#stop = undefined;`),
  watch(
    "the timer of a stream is forgotten",
    `    this.#stopRetry?.();\n    this.#stopRetry = undefined;\n    const stop`,
    `    const stop`,
  ),
  watch("a stream that failed is not opened again", `if (!lasting) {`, `if (lasting && !lasting) {`),
  watch("a stream that failed for good is opened again", `if (!lasting) {`, `{`),
  watch("a reconnection is not news", `generation > this.#firstGeneration || `, ``),
  watch("a link that was long in coming is not news", ` || !this.#isPrompt()`, ``),
  watch(
    "a value is kept over a reconnection",
    `    this.#latest = undefined;\n    this.#shut();\n  }\n\n  ended`,
    `    this.#shut();\n  }\n\n  ended`,
  ),
  watch(
    "somebody who left is told",
    `if (!joined.isTold || !this.#joined.has(joined) || joined`,
    `if (!joined.isTold || joined`,
  ),
  watch("somebody is told before they have joined", `isTold = false;`, `isTold = true;`),
  watch("a watch stays with the holder when it ends", `    this.#shut();\n    this.#leave?.();`, `    this.#shut();`),
  watch("the snapshot is announced", `const isNews = !isSnapshot || this.#isMissing;`, `const isNews = true;`),
  throttle(
    "the first change waits for a window",
    `    if (left <= 0) this.#fire();\n    else this.#arm(left);\n  }\n\n  /** Forgets`,
    `    this.#arm(left <= 0 ? this.#options.windowMs : left);\n  }\n\n  /** Forgets`,
  ),
  {
    name: "principals share a stream",
    patches: [
      {
        file: "spine/subscriptions.ts",
        find: `const { key } = watched;`,
        replacement: `const key = watched.key.slice(watched.key.indexOf("/"));`,
      },
    ],
  },
  throttle("the last change is not told", `    else this.#arm(left);\n  }\n\n  /** Forgets`, `  }\n\n  /** Forgets`),
  throttle("everything is told at once", `if (left <= 0) this.#fire();`, `this.#fire();\n    if (left <= 0) return;`),
  throttle("an early timer is believed", `if (left > 0) this.#arm(left);`, `if (left > 1) this.#arm(left);`),
  throttle(
    "a clock that was set back stops it",
    `    this.#fullAt = Math.min(this.#fullAt, clock.now() + burst * windowMs);\n    return this.#fullAt - (burst - 1) * windowMs - clock.now();`,
    `    return Math.min(this.#fullAt - (burst - 1) * windowMs - clock.now(), windowMs);`,
  ),
  throttle(
    "a burst is longer",
    `clock.now() + burst * windowMs);\n    return this.#fullAt - (burst - 1)`,
    `clock.now() + (burst + 1) * windowMs);\n    return this.#fullAt - burst`,
  ),
  throttle(
    "a token does not come back",
    `Math.max(this.#fullAt, clock.now()) + windowMs;`,
    `Math.max(this.#fullAt, clock.now()) + 2 * windowMs;`,
  ),
  throttle(
    "a burst empties the bucket",
    `Math.max(this.#fullAt, clock.now()) + windowMs;`,
    `clock.now() + 4 * windowMs;`,
  ),
];
