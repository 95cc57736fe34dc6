/** Names the parts of the tracker. The tags say which of them agents may touch. */
import { cell, collection, type ConfirmContext, defineSurface, procedure } from "surface-mcp";
import { mcpResource, mcpTool, readOnly } from "surface-mcp";
import { z } from "zod";
import { Assignment, Closing, Issue, NewIssue, Page, Search } from "./schemas.ts";

const Id = Issue.pick({ id: true });

const show = procedure({ input: Id, output: Issue, description: "Show one issue" });

/** Writes the question that a user reads before their agent closes an issue. The arguments stand below it. */
async function confirmClosing({ id }: { id: number }, context: ConfirmContext<{ "issue.show": typeof show }>) {
  const { client, caller } = context;
  const { title } = await client["issue.show"].call({ id }, { caller });
  return `Close issue ${id}, "${title}"?`;
}

export const tracker = defineSurface("tracker", {
  open: mcpResource(cell({ schema: z.number(), description: "The number of open issues that all users see" })),
  issues: mcpResource(collection({ key: Issue.shape.id, schema: Issue, description: "An issue that all users see" }), {
    list: ({ title, state }) => ({ title, state }),
    listDescription: "The issues that all users see, the newest first",
  }),
  "issue.search": readOnly(
    mcpTool(procedure({ input: Search, output: Page, description: "Find issues by text and state" })),
  ),
  "issue.show": readOnly(mcpTool(show)),
  "issue.create": mcpTool(procedure({ input: NewIssue, output: Issue, description: "Report an issue" }), {
    destructive: false,
  }),
  "issue.assign": mcpTool(
    procedure({ input: Id.extend(Assignment.shape), output: Issue, description: "Assign an issue to a user" }),
    { destructive: false },
  ),
  "issue.close": mcpTool(
    procedure({ input: Id.extend(Closing.shape), output: Issue, description: "Close an issue with a comment" }),
    { confirm: confirmClosing },
  ),
  "issue.delete": procedure({ input: Id, description: "Delete an issue" }), // no tag: no agent can reach it
});
