import { expect, it } from "vitest";
import { z } from "zod";
import { content } from "../../src/catalog/content.ts";
import { shortOf, toolsOf } from "./nesting-support.ts";

const output = z.object({ n: z.number() });

it("content() that says that it has failed is answered when it says nothing that its output schema asks for", async () => {
  const tools = toolsOf({ t: { output, handler: () => content(["no such thing"], { isError: true }) } });
  const outcome = await tools.call("t");
  expect(outcome).toMatchObject({ kind: "rich", isError: true, structured: undefined });
  expect(outcome).toHaveProperty("blocks", '[{"type":"text","text":"no such thing"}]');
  expect(tools.faults).toEqual([]);
});

it("content() is held against the output schema when it has not failed, or says something to programs", async () => {
  const tools = toolsOf({
    nothing: { output, handler: () => content(["x"]) },
    misfit: { output, handler: () => content(["x"], { isError: true, structured: { n: "secret" } }) },
    fits: { output, handler: () => content(["x"], { isError: true, structured: { n: 1 } }) },
  });
  expect(shortOf(await tools.call("nothing"))).toBe("INVALID_OUTPUT");
  expect(shortOf(await tools.call("misfit"))).toBe("INVALID_OUTPUT");
  expect(await tools.call("fits")).toMatchObject({ kind: "rich", isError: true, structured: '{"n":1}' });
});
