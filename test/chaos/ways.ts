import { derive, type Link, projected, projectSurface, unixSocket, webSocket } from "../../src/index.ts";
import { chaos } from "./surface.ts";

/** The ways from the face to the backend that a run can take. */
export const ways = ["unix", "web", "projection"] as const;

/** One of them. */
export type Way = (typeof ways)[number];

/** The same surface, every member of which is derived. */
const projection = projectSurface(chaos, chaos, (client) => ({
  items: derive.collection(client.items, (item) => item),
  count: derive.cell(client.count, (count) => count),
  status: derive.cell(client.status, (status) => status),
  rang: derive.event(client.rang, (rung) => rung),
  look: derive.procedure(client.look),
  apply: derive.procedure(client.apply),
}));

/** Creates the link to a backend. `address` is the path of its socket, or the URL of its web socket. */
export function toLink(way: string, address: string): Link {
  if (way === "web") return webSocket(address);
  const link = unixSocket(address);
  return way === "projection" ? projected(projection, link) : link;
}
