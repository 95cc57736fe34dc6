import { isJsonObject, type JsonObject } from "../../schema/json.ts";
import { ownParam, rpcCodes, toRpcError, type RpcError } from "../protocol.ts";
import { listNames, type ListName } from "../lists.ts";
import { topicsOfLists, urisOf, type Topic } from "./topic.ts";

/** What a client of the modern era asks to be told of. */
export interface ListenFilter {
  readonly kind: "filter";
  /** Each once. */
  readonly topics: readonly Topic[];
}

/** What asks about a list. */
function flagOf(list: ListName): string {
  return `${list}ListChanged`;
}

const noFilter = toRpcError(rpcCodes.invalidParams, 'Invalid params: "notifications" must be an object');
const badFlag = toRpcError(rpcCodes.invalidParams, "Invalid params: whether to hear of a list must be a boolean");
const badUris = toRpcError(rpcCodes.invalidParams, 'Invalid params: "resourceSubscriptions" must be an array of URIs');

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/**
 * Reads the filter of a `subscriptions/listen`, or says what is wrong with it. What is not known is left aside.
 *
 * @param changing - the lists of which it was declared that they change: what is not declared is not honoured.
 */
export function readListenFilter(
  params: JsonObject | undefined,
  changing: ReadonlySet<ListName>,
): ListenFilter | RpcError {
  const filter = ownParam(params, "notifications");
  if (!isJsonObject(filter)) return noFilter;
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === "boolean";
  if (!listNames.every((list) => isFlag(ownParam(filter, flagOf(list))))) return badFlag;
  // A null is no array, and no absence either.
  const { resourceSubscriptions: uris = [] } = filter;
  if (!isStrings(uris)) return badUris;
  const lists = listNames.filter((list) => changing.has(list) && ownParam(filter, flagOf(list)) === true);
  return { kind: "filter", topics: [...topicsOfLists(new Set(lists)), ...new Set(uris)] };
}

/** The filter of what is honoured, as it is acknowledged. */
export function toHonoured(topics: readonly Topic[]): JsonObject {
  const uris = urisOf(topics);
  const lists = topics.filter((topic) => typeof topic !== "string");
  return {
    ...Object.fromEntries(lists.map(({ list }) => [flagOf(list), true])),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  };
}
