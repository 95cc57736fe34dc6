import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { rpcCodes, toRpcError, type RpcError } from "../protocol.ts";
import { kResourceList, type Topic } from "./topic.ts";
import { ownParam } from "../own-param.ts";

/** What a client of the modern era asks to be told of. */
export interface ListenFilter {
  readonly kind: "filter";
  /** Each once. */
  readonly topics: readonly Topic[];
}

/** The lists that can be asked about. Only that of resources may ever change: what is not declared is not honoured. */
const flags = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const;

const noFilter = toRpcError(rpcCodes.invalidParams, 'Invalid params: "notifications" must be an object');
const badFlag = toRpcError(rpcCodes.invalidParams, "Invalid params: whether to hear of a list must be a boolean");
const badUris = toRpcError(rpcCodes.invalidParams, 'Invalid params: "resourceSubscriptions" must be an array of URIs');

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/**
 * Reads the filter of a `subscriptions/listen`, or says what is wrong with it. What is not known is left aside.
 *
 * @param canListChange - whether that the list of resources changes was declared.
 */
export function readListenFilter(params: JsonObject | undefined, canListChange: boolean): ListenFilter | RpcError {
  const filter = ownParam(params, "notifications");
  if (!isJsonObject(filter)) return noFilter;
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";
  if (!flags.every((flag) => isFlag(ownParam(filter, flag)))) return badFlag;
  // A null is no array, and no absence either.
  const { resourceSubscriptions: uris = [] } = filter;
  if (!isStrings(uris)) return badUris;
  const isListAsked = canListChange && ownParam(filter, "resourcesListChanged") === true;
  const topics: readonly Topic[] = isListAsked ? [kResourceList] : [];
  return { kind: "filter", topics: [...topics, ...new Set(uris)] };
}

/** The filter of what is honoured, as it is acknowledged. */
export function toHonoured(topics: readonly Topic[]): JsonObject {
  const uris = topics.filter((topic) => topic !== kResourceList);
  return {
    ...(topics.includes(kResourceList) ? { resourcesListChanged: true } : {}),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  };
}
