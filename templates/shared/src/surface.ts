import { cell, defineSurface, mcpResource, mcpTool, procedure, readOnly } from "surface-mcp";
import { z } from "zod";

const Task = z.object({ id: z.number().int(), title: z.string(), isDone: z.boolean() });
export type Task = z.infer<typeof Task>;

export const NewTask = z.object({ title: z.string().min(1).max(200) });

/** Everything that this application can do. Agents reach only the members with `mcpTool()` or `mcpResource()`. */
export const surface = defineSurface("tasks", {
  all: mcpResource(cell({ schema: z.array(Task), description: "All tasks" })),
  list: readOnly(mcpTool(procedure({ output: z.array(Task), description: "List all tasks" }))),
  add: mcpTool(procedure({ input: NewTask, output: Task, description: "Add a task and return it" })),
  finish: mcpTool(
    procedure({
      input: Task.pick({ id: true }),
      output: Task,
      errors: { NO_SUCH_TASK: undefined },
      description: "Mark a task as done and return it",
    }),
  ),
  clear: procedure({ description: "Remove all tasks" }), // without a tag, so no agent can reach it
});
