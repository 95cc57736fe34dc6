import { ConnectionManager } from "../../src/spine/connection-manager.ts";
import { Subscriptions } from "../../src/spine/subscriptions.ts";
import { Clients } from "./clients.ts";
import { Context } from "./context.ts";
import { FarSide } from "./far-side.ts";
import { RedialModel } from "./redial-model.ts";
import { SimKey, type SimValue } from "./sim-key.ts";
import type { SimLink } from "./sim-link.ts";

/** How a world is set up. `strict`: a link that nobody uses is closed in the same step. */
export type Profile = "strict" | "normal";

/** How long the normal profile keeps a link that nobody uses. */
export const keptIdleMs = 3000;

const windowMs = 40;

/** The real spine between simulated clients and a simulated far side, under simulated time. */
export class World {
  readonly context: Context;
  readonly far: FarSide;
  readonly clients: Clients;
  readonly holder: ConnectionManager<SimLink>;
  readonly subscriptions: Subscriptions<SimLink, SimValue>;
  readonly idleMs: number;
  /** Two principals' views of two URIs, and one that the gate denies. */
  readonly keys: readonly SimKey[];

  constructor(profile: Profile, isTraced = false) {
    const context = new Context(isTraced);
    const { clock, chance } = context;
    const random = (): number => chance.next();
    this.context = context;
    this.far = new FarSide(context);
    this.idleMs = profile === "strict" ? 0 : keptIdleMs;
    const holding = { what: "the far side", dial: this.far.dial, random, idleMs: this.idleMs };
    this.holder = new ConnectionManager({ ...holding, clock: clock.lane("holder") });
    this.subscriptions = new Subscriptions({ holder: this.holder, clock: clock.lane("watch"), random });
    const { holder, subscriptions } = this;
    this.clients = new Clients(context, this.far, { holder, subscriptions, clock: clock.lane("request") });
    this.keys = ["p0/a", "p0/b", "p1/a", "p1/b", "p1/denied"].map(
      (name) => new SimKey(name, { principal: Number(name[1]), windowMs, isDenied: name.endsWith("denied") }),
    );
    const redials = new RedialModel(context, this.holder);
    clock.watch((lane, delayMs) => redials.onTimer(lane, delayMs));
    this.far.onOpened(() => redials.onOpened());
  }
}
