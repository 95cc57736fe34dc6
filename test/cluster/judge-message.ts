import { z } from "zod";

/** Key of `_meta` with the id of the request that subscribed, from 2026-07-28 on. */
export const subscriptionIdKey = "io.modelcontextprotocol/subscriptionId";

const Notification = z.object({
  method: z.string(),
  params: z
    .looseObject({
      uri: z.string().optional(),
      progress: z.number().optional(),
      total: z.number().optional(),
      _meta: z.looseObject({ [subscriptionIdKey]: z.union([z.string(), z.number()]).optional() }).optional(),
    })
    .optional(),
});

/** The messages that belong to a client. */
interface Expected {
  readonly name: string;
  readonly uri: string;
  /** Number of entries of its imports. `undefined`: it has none. */
  readonly total: number | undefined;
  /** Id of its subscription, if it is known. */
  readonly subscriptionId?: string | undefined;
}

type Params = z.infer<typeof Notification>["params"];

function judgeUpdate(params: Params, { name, uri, subscriptionId }: Expected): string {
  const subscription = params?.["_meta"]?.[subscriptionIdKey];
  if (subscriptionId !== undefined && subscription !== subscriptionId) {
    return `${name} was notified by the subscription ${subscription}`;
  }
  return params?.uri === uri ? "notice" : `${name} was notified of ${params?.uri}`;
}

function judgeProgress(params: Params, { name, total }: Expected): string | undefined {
  const isOwn = total !== undefined && params?.total === total;
  return isOwn ? undefined : `${name} got progress of an import of ${params?.total} entries`;
}

/**
 * Judges a message that a client got. Returns `"notice"` for a change of its resource, and a sentence for a message that another client
 * caused: each client watches the resource of its principal, and imports a number of entries that no other one does.
 */
export function judgeMessage(message: unknown, expected: Expected): string | undefined {
  const read = Notification.safeParse(message);
  if (!read.success) return undefined;
  const { method, params } = read.data;
  if (method === "notifications/resources/updated") return judgeUpdate(params, expected);
  return method === "notifications/progress" ? judgeProgress(params, expected) : undefined;
}
