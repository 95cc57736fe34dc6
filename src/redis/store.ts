import { SurfaceError } from "../errors.ts";
import type { Limiter, ReplayEntry, ReplayLog, SharedStore } from "../cluster/cluster.ts";
import { toList } from "../schema/json.ts";
import { type Commands, toScript } from "./commands.ts";

const maxValueBytes = 1_048_576;
const maxTtlMs = 1e12;
/** Entries of a log in one reply, which is bounded by it. */
const maxRead = 8;

/** `now`: milliseconds by the clock of Redis. No replica's clock counts. */
const now = `local time = redis.call('TIME') local now = time[1] * 1000 + time[2] / 1000 `;

const swap = toScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`);

/** A group is a sorted set of its members, by the time when each place is free again. First it adds: Redis refuses that if it is full. */
const take = toScript(`${now}
local now_text = string.format('%.3f', now)
for i = 1, #KEYS do
  local free = redis.call('ZSCORE', KEYS[i], ARGV[1])
  local has = free and tonumber(free) > now
  if not has and redis.call('ZCOUNT', KEYS[i], '(' .. now_text, '+inf') >= tonumber(ARGV[i + 2]) then return i end
end
for i = 1, #KEYS do
  redis.call('ZADD', KEYS[i], string.format('%.3f', now + ARGV[2]), ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now_text)
  redis.call('PEXPIRE', KEYS[i], string.format('%.0f', math.max(redis.call('PTTL', KEYS[i]), ARGV[2])))
end
return 0`);

/** A bucket is the time when it is full again. Costs, sizes and times follow each other in ARGV. */
const takeTokens = toScript(`${now}
local wait, filled = 0, {}
for i = 1, #KEYS do
  local cost, size, ms = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local full = tonumber(redis.call('GET', KEYS[i]) or '') or now
  full = math.max(now, math.min(full, now + size * ms))
  wait = math.max(wait, full - now - (size - cost) * ms)
  filled[i] = full + cost * ms
end
if wait > 0.001 then return string.format('%.0f', math.ceil(wait)) end
for i = 1, #KEYS do
  local left = math.ceil(filled[i] - now)
  if left > 0 then redis.call('SET', KEYS[i], string.format('%.3f', filled[i]), 'PX', string.format('%.0f', left)) end
end
return 0`);

/** Sent as its text each time: a second attempt would come behind the next entry, and be none of the log any more. */
const append = `
local reply = redis.pcall('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], ARGV[2] .. '-0', 't', ARGV[3])
if type(reply) == 'table' and reply.err then
  if string.find(reply.err, 'equal or smaller', 1, true) then return 0 end
  return reply
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`;

function fit(value: string): string {
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxValueBytes) return value;
  throw new SurfaceError(
    "OVERFLOW",
    `Cannot keep a value in the shared store: it has ${bytes} bytes; at most ${maxValueBytes} are allowed`,
  );
}

const toTtl = (ms: number): string => String(Math.min(Math.max(1, Math.ceil(ms)), maxTtlMs));

const isOne = (reply: unknown): boolean => Number(reply) === 1;

/** Creates the store on Redis. */
export function createStore(commands: Commands): SharedStore {
  const value = (key: string): string => commands.key("value", key);
  return {
    async now() {
      const [seconds, micros] = readTexts(await commands.run("TIME"));
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    },
    async get(key) {
      const reply = await commands.run("GET", value(key));
      // A client may be set to return bytes.
      return typeof reply === "string" || Buffer.isBuffer(reply) ? String(reply) : undefined;
    },
    async set(key, text, ttlMs) {
      await commands.run("SET", value(key), fit(text), "PX", toTtl(ttlMs));
    },
    async claim(key, text, ttlMs) {
      const reply = await commands.run("SET", value(key), fit(text), "NX", "PX", toTtl(ttlMs));
      return reply !== null && reply !== undefined;
    },
    swap: async (key, { before, after }, ttlMs) =>
      isOne(await commands.eval(swap, [value(key)], [before, fit(after), toTtl(ttlMs)])),
    renew: async (key, ttlMs) => isOne(await commands.run("PEXPIRE", value(key), toTtl(ttlMs))),
    delete: async (key) => isOne(await commands.run("DEL", value(key))),
    async take(member, places, ttlMs) {
      const keys = places.map(({ group }) => commands.key("group", group));
      const reply = await commands.eval(take, keys, [member, toTtl(ttlMs), ...places.map(({ most }) => String(most))]);
      return places[Number(reply) - 1]?.group;
    },
    async leave(member, groups) {
      await Promise.all(groups.map((group) => commands.run("ZREM", commands.key("group", group), member)));
    },
  };
}

/** Creates the logs on Redis: each is a stream, whose ids are the numbers of the entries. */
export function createLog(commands: Commands): ReplayLog {
  return {
    append: async (key, { number, text }, { maxEntries, ttlMs }) =>
      isOne(
        await commands.run(
          ...["EVAL", append, "1", commands.key("log", key)],
          ...[String(maxEntries), String(number), fit(text), toTtl(ttlMs)],
        ),
      ),
    async read(key, after) {
      const from = `(${after}-0`;
      const reply = await commands.run("XRANGE", commands.key("log", key), from, "+", "COUNT", String(maxRead));
      return toList(reply).flatMap(toEntry);
    },
  };
}

/** Reads a reply that is a list of texts, bytes or numbers. */
export function readTexts(reply: unknown): readonly string[] {
  return toList(reply).map(String);
}

/** Reads an entry. One of another program has another form, and is left out. */
function toEntry(reply: unknown): readonly ReplayEntry[] {
  const [id, fields]: readonly unknown[] = toList(reply);
  const [name, text] = readTexts(fields);
  const [, number] = /^(\d+)-0$/.exec(String(id)) ?? [];
  return name !== "t" || text === undefined || number === undefined ? [] : [{ number: Number(number), text }];
}

/** Creates the token buckets on Redis. */
export function createLimiter(commands: Commands): Limiter {
  return {
    async take(buckets) {
      const keys = buckets.map(({ key }) => commands.key("bucket", key));
      const args = buckets.flatMap(({ cost, size, msPerToken }) => [String(cost), String(size), String(msPerToken)]);
      return Number(await commands.eval(takeTokens, keys, args));
    },
  };
}
