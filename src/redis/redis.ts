import { randomBytes } from "node:crypto";
import type { Cluster, OpenClusterOptions, OpenedCluster } from "../cluster/cluster.ts";
import { SurfaceError } from "../errors.ts";
import { matching, withDefault } from "../options/option.ts";
import { readOptions } from "../options/read-options.ts";
import { parseJson } from "../schema/json.ts";
import { NumberedBus } from "./numbered-bus.ts";
import { adaptClient, type ClientAdapter, type RedisClient } from "./client-adapter.ts";
import { Commands, toScript, type Trouble, unavailable, unreachable } from "./commands.ts";
import { createLimiter, createLog, createStore, readTexts } from "./store.ts";

/** The version of everything that is kept under a prefix. */
const formatVersion = 1;
const beatMs = 2000;
const retryBeatMs = 100;
const leaseMs = 10_000;
const readyMs = 5000;
/** Signs of life that a subscriber may miss until its connection is replaced. */
const maxEchoesMissing = 3;
/** The kinds of trouble that end with a sign of life. */
const outages: readonly Trouble[] = ["away", "full"];

/**
 * Claims the prefix if it has no owner, and returns the owner, and whether it was claimed now. Gives a sign of life if this app owns it:
 * a prefix without an owner may be that of a Redis which lost what it had. Publishes first: a Redis that is full publishes all the same.
 */
const beatScript = toScript(
  `
local owner = redis.call('GET', KEYS[1])
local is_new = not owner
if is_new then
  redis.call('SET', KEYS[1], ARGV[1])
  owner = ARGV[1]
end
if owner == ARGV[1] then
  redis.call('PUBLISH', KEYS[3], is_new and ARGV[4] or ARGV[2])
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
end
return { owner, is_new and 1 or 0 }`,
  true,
);

/** Options of {@link redis}. */
export interface RedisOptions {
  /** Begins the name of each key and of the channel. Give each app one. @default "surface-mcp" */
  readonly prefix?: string;
}

const optionFields = {
  prefix: withDefault(matching("1 to 64 letters, digits or any of _ . : - { }", /^[\w.:{}-]{1,64}$/), "surface-mcp"),
};

/**
 * Lets the replicas of an app share their state in Redis. Opens one more connection for its subscription, by `client.duplicate()`, and
 * never closes the client. Requires one Redis, or Sentinel, from version 6.2 on; no Redis Cluster.
 *
 * @param client - of the package `ioredis`, or a connected one of the package `redis`.
 * @throws SurfaceError `INVALID_OPTION`.
 * @example
 * ```ts
 * import { Redis } from "ioredis";
 * import { redis } from "surface-mcp/redis";
 *
 * await app.serve(http({ cluster: redis(new Redis("redis://localhost")) }));
 * ```
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Cluster {
  const { prefix } = readOptions(options, optionFields, "Cannot use Redis");
  return new RedisCluster(adaptClient(client), prefix);
}

/** Returns milliseconds by two clocks: one may stand still while the machine sleeps, the other may be set back. */
function clocks(): readonly number[] {
  return [performance.now(), Date.now()];
}

class RedisCluster implements Cluster {
  readonly replica: string = randomBytes(12).toString("hex");
  readonly bus: NumberedBus;
  readonly store: Cluster["store"];
  readonly log: Cluster["log"];
  readonly limiter: Cluster["limiter"];
  readonly #client: ClientAdapter;
  readonly #commands: Commands;
  readonly #channel: string;
  readonly #openers = new Set<OpenClusterOptions>();
  readonly #troubles = new Set<Trouble>();
  #app = "";
  /** Whether the prefix is known to be of this app. */
  #isOwner = false;
  /** The times by {@link clocks} when the lease was last renewed. */
  #renewedAt = clocks();
  #lapses = 0;
  #isLapsed = false;
  #isSubscribed = false;
  #isBeating = false;
  /** The cause that is reported if the subscriber does not connect again soon. */
  #subscriberError: unknown;
  #endSubscription: () => void = () => {};
  #endErrors: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];
  #refusal: SurfaceError | undefined;

  constructor(client: ClientAdapter, prefix: string) {
    this.#client = client;
    this.#channel = `${prefix}:bus`;
    this.#commands = new Commands(client, prefix, (trouble, cause) => this.#report(trouble, cause));
    this.store = createStore(this.#commands);
    this.log = createLog(this.#commands);
    this.limiter = createLimiter(this.#commands);
    this.bus = new NumberedBus({
      replica: this.replica,
      publish: (message) => this.#commands.run("PUBLISH", this.#channel, message),
      onGarbage: () =>
        this.#report(
          "garbage",
          new SurfaceError(
            "VALIDATION_ERROR",
            `Cannot read a message on "${this.#channel}": it is of another program; let only this app use the prefix`,
          ),
        ),
    });
  }

  get isAvailable(): boolean {
    return this.#isOwner && this.#commands.isReachable && !outages.some((trouble) => this.#troubles.has(trouble));
  }

  get lapses(): number {
    const isOver = clocks().some((now, at) => now - (this.#renewedAt[at] ?? now) > leaseMs);
    if (isOver && !this.#isLapsed) this.#lapses++;
    this.#isLapsed ||= isOver;
    return this.#lapses;
  }

  async isAlive(replica: string): Promise<boolean> {
    return Number(await this.#commands.run("EXISTS", this.#commands.key("alive", replica))) === 1;
  }

  open(options: OpenClusterOptions): OpenedCluster {
    const opener = { ...options };
    this.#openers.add(opener);
    if (this.#openers.size === 1) this.#start(options.app);
    const ready = this.#untilReady(opener);
    // The caller may look at it later.
    ready.catch(() => {});
    return {
      ready,
      close: async () => {
        const wasOpen = this.#openers.delete(opener);
        this.#settle();
        if (wasOpen && this.#openers.size === 0) await this.#stop();
      },
    };
  }

  #start(app: string): void {
    this.#app = app;
    this.#renew(clocks());
    this.#endErrors = this.#client.onError((cause) => this.#report("away", cause));
    this.#subscribe();
    void this.#beat();
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endSubscription();
    this.#isSubscribed = false;
    this.#isOwner = false;
    this.#refuse(undefined);
    // Without an answer the lease ends by itself.
    await this.#commands.run("DEL", this.#commands.key("alive", this.replica)).catch(() => {});
    this.#endErrors();
    this.#troubles.clear();
  }

  /** Opens the connection of the subscriber, in place of the one that there is. */
  #subscribe(): void {
    this.#endSubscription();
    this.bus.reset();
    let isOpen = true;
    const end = this.#client.subscribe(this.#channel, {
      text: (text) => isOpen && this.bus.receive(text),
      subscribed: () => isOpen && this.#onSubscribed(),
      error: (cause) => (this.#subscriberError = cause),
    });
    this.#endSubscription = () => {
      isOpen = false;
      end();
    };
  }

  #onSubscribed(): void {
    this.#isSubscribed = true;
    this.#subscriberError = undefined;
    this.#troubles.delete("deaf");
    this.bus.gap();
    this.#settle();
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    const isGood = await this.#tryBeat();
    this.#isBeating = false;
    if (this.#openers.size === 0) return;
    this.#settle();
    if (this.bus.echoesMissing >= maxEchoesMissing) {
      this.#report("deaf", this.#subscriberError);
      this.#subscribe();
    }
    this.#timer = setTimeout(() => void this.#beat(), isGood ? beatMs : retryBeatMs).unref();
  }

  /** Gives a sign of life. Resolves with `false` if Redis did not take it. */
  async #tryBeat(): Promise<boolean> {
    const { message, messageOfLoss, confirm } = this.bus.beat();
    const sentAt = clocks();
    const app = this.#app;
    const own = JSON.stringify({ version: formatVersion, app });
    const keys = [`${this.#commands.prefix}:format`, this.#commands.key("alive", this.replica), this.#channel];
    try {
      const reply = await this.#commands.eval(beatScript, keys, [own, message, String(leaseMs), messageOfLoss]);
      const [owner, isNew] = readTexts(reply);
      // Closed since, and maybe opened again by another app.
      if (this.#openers.size === 0 || app !== this.#app) return false;
      const problem = owner === own ? undefined : foreign(this.#commands.prefix, ownerOf(owner));
      this.#refuse(problem);
      if (problem !== undefined) {
        this.#report("foreign", problem);
        return false;
      }
      confirm();
      this.#renew(sentAt);
      const ended = outages.filter((trouble) => this.#troubles.delete(trouble));
      if (ended.length > 0 || (this.#isOwner && isNew === "1")) this.bus.gap();
      this.#isOwner = true;
      return true;
    } catch {
      // The command reported it.
      return false;
    }
  }

  #renew(sentAt: readonly number[]): void {
    // Counts the lease that has ended, if nothing has looked since.
    void this.lapses;
    this.#renewedAt = sentAt;
    this.#isLapsed = false;
  }

  /** Refuses every command from now on, or none any more. */
  #refuse(refusal: SurfaceError | undefined): void {
    this.#refusal = refusal;
    this.#commands.isForeign = refusal !== undefined;
  }

  #untilReady(opener: OpenClusterOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => finish(unreachable(this.#subscriberError)), readyMs);
      const finish = (error?: Error): void => {
        clearTimeout(late);
        this.#waiting = this.#waiting.filter((one) => one !== settle);
        if (error === undefined) resolve();
        else reject(error);
      };
      const settle = (): void => {
        if (!this.#openers.has(opener)) finish(unavailable("away"));
        else if (opener.app !== this.#app) finish(foreign(this.#commands.prefix, `the app "${this.#app}"`));
        else if (this.#refusal !== undefined) finish(this.#refusal);
        else if (this.#isOwner && this.#isSubscribed) finish();
      };
      this.#waiting.push(settle);
      settle();
    });
  }

  #settle(): void {
    for (const settle of [...this.#waiting]) settle();
  }

  #report(trouble: Trouble, cause: unknown): void {
    // Until Redis was reached `ready` tells it.
    if (this.#troubles.has(trouble) || (trouble === "away" && !this.#isOwner)) return;
    this.#troubles.add(trouble);
    for (const { report } of this.#openers) report(unavailable(trouble, cause));
  }
}

function foreign(prefix: string, owner: string): SurfaceError {
  return new SurfaceError(
    "INVALID_OPTION",
    `Cannot join the cluster: the prefix "${prefix}" belongs to ${owner}; pass another "prefix" to redis()`,
  );
}

/** Describes the owner of a prefix. */
function ownerOf(text = ""): string {
  const owner = parseJson(text);
  const [version, app] = ["version", "app"].map((field): unknown => Reflect.get(Object(owner), field));
  if (version === undefined) return "another program";
  if (version === formatVersion) return `the app ${JSON.stringify(app)}`;
  return `version ${JSON.stringify(version)} of its format, and this is version ${formatVersion}`;
}
