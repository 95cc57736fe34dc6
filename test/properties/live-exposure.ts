import { sample } from "fast-check";
import type { Caller } from "../../src/surface/caller.ts";
import { openHttp, openInMemory, type LiveTransport } from "./live-transport.ts";
import { LiveOracle } from "./live-oracle.ts";
import { wireFor, type Wire } from "./live-requests.ts";
import { faultsOfList, faultsOfText } from "./live-checks.ts";
import { liveScript, type LiveScript, type RequestStep } from "./live-script.ts";
import { createWorld, idOf, type RandomThing } from "./views-world.ts";

/** A number that no thing has. */
const never = 99;

/** One part of a large value, as a response named it. */
interface PartLink {
  readonly uri: string;
  readonly caller: Caller;
  readonly view: string;
  /** How often the rules had changed. */
  readonly epoch: number;
}

/** Counts of what was tried, so that a run that tries nothing is seen. */
export interface LiveCounts {
  requests: number;
  ran: number;
  absent: number;
  parts: number;
  partsRefused: number;
  rules: number;
}

const partUri = /surface:\/\/world\/_parts\/[0-9a-f]{32}\/\d+/g;
const mostLinks = 200;

/** Plays one script, and collects every response that differs from the oracle. */
class LivePlay {
  readonly wrong: string[] = [];
  readonly #script: LiveScript;
  readonly #counts: LiveCounts;
  readonly #world: ReturnType<typeof createWorld>;
  readonly #door: LiveTransport;
  readonly #links: PartLink[] = [];
  #rules: LiveScript["world"]["rules"];
  #epoch = 0;
  #ran: string[] = [];

  constructor(script: LiveScript, counts: LiveCounts) {
    this.#script = script;
    this.#counts = counts;
    this.#rules = script.world.rules;
    this.#world = createWorld(script.world, (id, caller) => this.#give(id, caller));
    this.#door = script.isHttp ? openHttp(this.#world.app, script.callers) : openInMemory(this.#world.app as never);
  }

  async play(): Promise<void> {
    try {
      for (const [index, step] of this.#script.steps.entries()) {
        if ("rules" in step) this.#change(step.rules);
        else await this.#request(step);
        if (this.wrong.length > 0) {
          this.wrong.push(`step ${index}: ${JSON.stringify(step)}`, `rules: ${JSON.stringify(this.#rules)}`);
          return;
        }
      }
    } finally {
      await this.#door.close();
    }
  }

  #change(rules: LiveScript["world"]["rules"]): void {
    this.#rules = rules;
    this.#epoch += 1;
    this.#counts.rules += 1;
    this.#world.rules.set(rules);
  }

  /** Marks a text with its thing and its caller: most texts are large. */
  #give(id: string, caller: Caller): string {
    this.#ran.push(id);
    const text = `${id} for:${this.#numberOf(caller)}; `;
    return text.repeat(/[0-3]$/.test(id) ? 400 : 1);
  }

  #numberOf({ issuer, clientId, claims, scopes }: Caller): number {
    const key = JSON.stringify([issuer, clientId, claims, scopes]);
    return this.#script.callers.findIndex(
      (each) => JSON.stringify([each.issuer, each.clientId, each.claims, each.scopes]) === key,
    );
  }

  async #request(step: RequestStep): Promise<void> {
    const { callers, world } = this.#script;
    const caller = callers[step.caller % callers.length];
    const thing = world.things[step.thing % world.things.length];
    if (caller === undefined || thing === undefined) return;
    const oracle = new LiveOracle(world, { ...step, caller, rules: this.#rules });
    const asked = { step, caller, thing, oracle };
    await (step.kind === "part" ? this.#tryPart(asked) : this.#tryName(asked));
  }

  async #send({ step, caller }: Asked, { method, params }: Pick<Wire, "method" | "params">): Promise<string> {
    this.#ran = [];
    this.#counts.requests += 1;
    const { surface, project } = step;
    const text = await this.#door.ask({ caller, surface, project, method, params });
    this.#counts.ran += this.#ran.length;
    const view = `${surface} ${project}`;
    for (const [uri] of text.matchAll(partUri)) {
      if (JSON.stringify(params).includes(uri)) continue;
      this.#links.push({ uri, caller, view, epoch: this.#epoch });
      if (this.#links.length > mostLinks) this.#links.shift();
    }
    return text;
  }

  async #tryName(asked: Asked): Promise<void> {
    const { step, thing, oracle } = asked;
    const wire = wireFor(step, thing);
    const text = await this.#send(asked, wire);
    const runs = oracle.runs(step.kind, thing);
    const expected = runs === false ? "" : idOf(thing);
    const did = this.#ran.join(" ");
    // Only the pull tool may run its handler or not.
    if (did !== expected && !(runs === undefined && did === "")) this.#fail(`ran "${did}", not "${expected}"`, text);
    this.#check(asked, wire.said, text);
    const names = !["gateway list", "gateway search"].includes(step.kind) && wire.said !== "";
    if (!names || !oracle.isAbsent(step.kind, thing)) return;
    const control = wireFor(step, { ...thing, nr: never });
    const controlText = await this.#send(asked, control);
    this.#counts.absent += 1;
    const [hidden, absent] = [text.replaceAll(wire.said, "NAME"), controlText.replaceAll(control.said, "NAME")];
    if (hidden !== absent) this.#fail(`hidden is told from absent, which is answered with ${absent}`, hidden);
  }

  async #tryPart(asked: Asked): Promise<void> {
    const { step } = asked;
    const link = this.#links[step.thing % Math.max(1, this.#links.length)];
    if (link === undefined) return;
    // Every other read is by the caller and through the view that the part was made for.
    const isOwn = step.spelling % 2 === 0 && link.epoch === this.#epoch;
    const reading = isOwn ? this.#asOwner(asked, link) : asked;
    const { isAbsent, text } = await this.#readPart(reading, link.uri);
    this.#check(reading, "", text);
    if (this.#ran.length > 0) this.#fail(`reading a part ran ${this.#ran.join()}`, text);
    if (reading.caller !== link.caller && !isAbsent) this.#fail("a part of another caller is given", text);
    const isNewest = this.#links.slice(-4).includes(link);
    if (isOwn && isNewest && isAbsent) this.#fail("a part is absent for its own caller", text);
  }

  /** Reads a part, and the same URI with an id that no part has. */
  async #readPart(asked: Asked, uri: string): Promise<{ readonly isAbsent: boolean; readonly text: string }> {
    const absentUri = uri.replace(/[0-9a-f]{32}/, "0".repeat(32));
    const absent = await this.#send(asked, { method: "resources/read", params: { uri: absentUri } });
    const text = await this.#send(asked, { method: "resources/read", params: { uri } });
    const isAbsent = text.replaceAll(uri, "URI") === absent.replaceAll(absentUri, "URI");
    this.#counts.parts += 1;
    if (isAbsent) this.#counts.partsRefused += 1;
    else if (!/\\"part\\":/.test(text)) this.#fail("a part is neither given nor absent", text);
    return { isAbsent, text };
  }

  #asOwner(asked: Asked, { caller, view }: PartLink): Asked {
    const [surface = "", project = ""] = view.split(" ");
    const step = { ...asked.step, surface, project: project === "undefined" ? undefined : project };
    return {
      ...asked,
      step,
      caller,
      oracle: new LiveOracle(this.#script.world, { ...step, caller, rules: this.#rules }),
    };
  }

  #check({ step, caller, oracle }: Asked, said: string, text: string): void {
    const mine = `for:${this.#script.callers.indexOf(caller)};`;
    const faults = [
      ...faultsOfText(oracle, { said, text, mine }),
      ...faultsOfList(oracle, { kind: step.kind, said, text }),
    ];
    for (const fault of faults) this.#fail(fault, text);
  }

  #fail(what: string, text: string): void {
    this.wrong.push(`${what}: ${text.slice(0, 600)}`);
  }
}

interface Asked {
  readonly step: RequestStep;
  readonly caller: Caller;
  readonly thing: RandomThing;
  readonly oracle: LiveOracle;
}

/** The result of {@link tryLive}: `wrong` is empty where every response agreed with the oracle. */
export interface LiveReport {
  readonly seed: number;
  readonly counts: Readonly<LiveCounts>;
  readonly wrong: readonly string[];
}

/** Plays scripts, one for each seed from `seed` on, until this many requests were sent or one response is wrong. */
export async function tryLive(seed: number, requests: number): Promise<LiveReport> {
  const counts: LiveCounts = { requests: 0, ran: 0, absent: 0, parts: 0, partsRefused: 0, rules: 0 };
  for (let at = seed; ; at += 1) {
    const [script] = sample(liveScript, { numRuns: 1, seed: at });
    if (script === undefined) throw new TypeError("fast-check drew no script");
    const play = new LivePlay(script, counts);
    await play.play();
    if (play.wrong.length > 0 || counts.requests >= requests) return { seed: at, counts, wrong: play.wrong };
  }
}
