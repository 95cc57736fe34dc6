import { createHash, randomBytes } from "node:crypto";
import express from "express";
import { bearer, httpHandler } from "surface-mcp/http";
import { addTask, app, store } from "./app.ts";
import { NewTask } from "./surface.ts";

const port = Number(process.env["PORT"] ?? 3000);
const token = process.env["MCP_TOKEN"] ?? randomBytes(32).toString("base64url");

// One user. Replace this with a lookup of your own users: see docs/guide/http-auth.md of surface-mcp.
const resource = `http://127.0.0.1:${port}/mcp`;
const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const users = new Map([[digest(token), { id: "me", scopes: ["tasks:read", "tasks:write"], resource }]]);
const auth = bearer({ resource, verify: async (given) => users.get(digest(given)) });

const handler = httpHandler(app, { auth });
const web = express();
web.all("/mcp", handler.node); // before express.json(): the handler reads the body itself
web.use(express.json());

web.get("/tasks", (_request, response) => void response.json(store.get()));
web.post("/tasks", (request, response) => {
  const input = NewTask.safeParse(request.body);
  if (input.success) response.status(201).json(addTask(input.data.title));
  else response.status(400).json(input.error.issues);
});

const server = web.listen(port, "127.0.0.1", (error) => {
  if (error !== undefined) throw error;
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`;
  console.log(`REST:  ${url}/tasks\nMCP:   ${url}/mcp`);
  console.log(`Token: ${process.env["MCP_TOKEN"] === undefined ? token : "$MCP_TOKEN"}`);
  console.log("\nLook at it: npx @modelcontextprotocol/inspector, and connect to MCP with the token");
});

async function stop(): Promise<void> {
  await handler.close(); // lets running calls finish
  server.close();
}
process.once("SIGINT", () => void stop());
process.once("SIGTERM", () => void stop());
