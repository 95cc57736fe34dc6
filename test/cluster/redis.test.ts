import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { describeCluster } from "./contract.ts";
import { joinRedis, newest } from "./redis-clients.ts";
import { describeScripts } from "./redis-scripts.ts";
import { hasRedis, RedisServer, whyNoRedis } from "./redis-server.ts";

describe.runIf(hasRedis).each(Object.entries(newest))(`redis() over %s${whyNoRedis}`, (name, connect) => {
  const server = new RedisServer();
  beforeAll(() => server.start());
  beforeEach(() => server.run("FLUSHALL"));
  afterAll(() => server.remove());
  describeCluster(name, () => joinRedis(server.path, { connect }));
  describeScripts(server, connect);
});
