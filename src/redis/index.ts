export { redis } from "./redis.ts";
export type { RedisOptions } from "./redis.ts";
export type { IoredisClient, NodeRedisClient, RedisClient } from "./client-adapter.ts";
export type {
  Bucket,
  Bus,
  BusListener,
  Cluster,
  Limiter,
  OpenClusterOptions,
  OpenedCluster,
  ReplayBounds,
  ReplayEntry,
  ReplayLog,
  SharedPlace,
  SharedStore,
} from "../cluster/cluster.ts";
