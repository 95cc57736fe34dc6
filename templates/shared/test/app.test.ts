import type { Exactly, MutatingToolNames, ResourceNames, ToolNames } from "surface-mcp";
import { createTestClient } from "surface-mcp/testing";
import { afterAll, beforeEach, expect, test } from "vitest";
import { app, store } from "../src/app.ts";

// Everything that an agent can reach. `npm run check` fails when a name is missing here, or is new.
export const tools: Exactly<ToolNames<typeof app>, "add" | "finish" | "list"> = true;
export const mutating: Exactly<MutatingToolNames<typeof app>, "add" | "finish"> = true;
export const resources: Exactly<ResourceNames<typeof app>, "all"> = true;

const client = createTestClient(app);

beforeEach(() => store.set([]));
afterAll(() => client.close());

test("an agent adds a task and finishes it", async () => {
  const added = { id: 1, title: "Write a test", isDone: false };
  expect(await client.tools.add({ title: "Write a test" })).toMatchObject({ structured: added });
  expect(await client.tools.finish({ id: 1 })).toMatchObject({ structured: { ...added, isDone: true } });
  expect(await client.read("all")).toEqual([{ ...added, isDone: true }]);
});

test("an agent reads why a task cannot be finished", async () => {
  expect(await client.tools.finish({ id: 7 })).toMatchObject({ text: "NO_SUCH_TASK: there is no task 7" });
});

test("a member without a tag looks like a tool that does not exist", async () => {
  const hidden = client.request("tools/call", { name: "clear", arguments: {} });
  await expect(hidden).rejects.toThrow("there is no such tool");
});
