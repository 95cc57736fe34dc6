import type { Client as ModernClient } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expectError, expectType } from "tsd";
import { invoker, mcpInvoker, type InvokerSource } from "surface-mcp/from/invoker";

declare const modern: ModernClient;
declare const old: Client;

// What the clients of both SDKs list is what an invoker lists.
expectType<InvokerSource>(
  invoker(
    {
      list: async () => (await modern.listTools()).tools,
      invoke: (name, args) => modern.callTool({ name, arguments: args }),
    },
    {
      list: async () => (await old.listTools()).tools,
      invoke: (name, args) => old.callTool({ name, arguments: args }),
    },
  ),
);
// And what somebody has written down without saying what it is.
const tools = [{ name: "x", description: "d", parameters: { type: "object", properties: { a: { type: "string" } } } }];
mcpInvoker({ list: () => tools, invoke: () => 1 });
expectError(invoker({ list: () => [{ title: "no name" }], invoke: () => 1 }));
expectError(invoker({ list: () => [{ name: "x", inputSchema: "text" }], invoke: () => 1 }));
expectError(invoker({ list: () => tools }));
expectError(invoker({ list: () => "x", invoke: () => 1 }));
expectError(mcpInvoker({ list: () => tools, invoke: "x" }));
