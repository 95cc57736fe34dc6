import { z } from "zod";

const Notification = z.object({
  method: z.string(),
  params: z
    .looseObject({ uri: z.string().optional(), progress: z.number().optional(), total: z.number().optional() })
    .optional(),
});

/**
 * Judges a message that a client got. Returns `"notice"` for a change of its resource, and a sentence for a message that another client
 * caused: each client watches the resource of its principal, and imports a number of entries that no other one does.
 */
export function judgeMessage(
  message: unknown,
  { name, uri, total }: { readonly name: string; readonly uri: string; readonly total: number },
): string | undefined {
  const read = Notification.safeParse(message);
  if (!read.success) return undefined;
  const { method, params } = read.data;
  if (method === "notifications/resources/updated") {
    return params?.uri === uri ? "notice" : `${name} was notified of ${params?.uri}`;
  }
  if (method !== "notifications/progress") return undefined;
  return params?.total === total ? undefined : `${name} got progress of an import of ${params?.total} entries`;
}
