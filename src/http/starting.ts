import { channel, type Channel } from "node:diagnostics_channel";

/** Published on when a server starts, before it listens. One for all copies of this package in the process. */
export const startingChannel: Channel = channel("surface-mcp.http.starting");
