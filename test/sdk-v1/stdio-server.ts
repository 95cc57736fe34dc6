// oxlint-disable typescript/no-deprecated -- the low-level server of the SDK 1.x is what is attached to
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { attach } from "../../src/sdk-v1/attach.ts";
import { createDesk } from "./desk-app.ts";

// A server that somebody had already.
const server = new Server({ name: "desk", version: "1.0.0" }, { capabilities: {}, instructions: "Keep it tidy" });
attach(createDesk().app, server);
await server.connect(new StdioServerTransport());
