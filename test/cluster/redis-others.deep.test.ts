import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { describeCluster } from "./contract.ts";
import { joinRedis, others } from "./redis-clients.ts";
import { describeScripts } from "./redis-scripts.ts";
import { hasRedis, RedisServer, whyNoRedis } from "./redis-server.ts";

describe.runIf(hasRedis).each(Object.entries(others))(`redis() over %s${whyNoRedis}`, (name, connect) => {
  const server = new RedisServer();
  beforeAll(() => server.start());
  beforeEach(() => server.run("FLUSHALL"));
  afterAll(() => server.remove());
  describeCluster(name, () => joinRedis(server.path, { connect }));
  describeScripts(server, connect);
});
