import { cellSource, mcp, Refusal } from "surface-mcp";
import { surface, type Task } from "./surface.ts";

/** The state of this application. Replace it with your own objects or your database. */
export const store = cellSource<Task[]>([]);

export function addTask(title: string): Task {
  const task = { id: store.get().length + 1, title, isDone: false };
  store.set([...store.get(), task]);
  return task;
}

function finishTask(id: number): Task {
  const found = store.get().find((task) => task.id === id);
  // The agent reads the text of a Refusal. Any other error is logged, and the agent reads only "INTERNAL".
  if (found === undefined) throw new Refusal("NO_SUCH_TASK", `there is no task ${id}`);
  const done = { ...found, isDone: true };
  store.set(store.get().map((task) => (task === found ? done : task)));
  return done;
}

export const app = mcp(surface).implement({
  all: store,
  list: () => store.get(),
  add: ({ title }) => addTask(title),
  finish: ({ id }) => finishTask(id),
  clear: () => store.set([]),
});
