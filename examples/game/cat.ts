import { executeIn, type Action, type Service } from "./agentic.ts";
import { Observable } from "./observable.ts";

interface Cat {
  readonly name: string | undefined;
  readonly mood: "wary" | "friendly";
}

function actionsOf(cat: Observable<Cat>): Readonly<Record<string, Action>> {
  const pet: Action = {
    description: "Pet the cat",
    execute: () => {
      cat.value = { ...cat.value, mood: "friendly" };
      // What was done, as data.
      return { purrs: true };
    },
  };
  const name: Action = {
    description: "Give the cat a name; it has to trust you for that",
    schema: { type: "string", minLength: 1, maxLength: 20 },
    execute: (given) => {
      cat.value = { ...cat.value, name: String(given) };
    },
  };
  return cat.value.mood === "friendly" ? { pet, name } : { pet };
}

/** A cat: a service of its own, that another one may have a link to. */
export function createCat(): Service {
  const cat = new Observable<Cat>({ name: undefined, mood: "wary" });
  return {
    serviceName: "cat",
    states: cat.map(({ name, mood }) => ({
      mood: { schema: { type: "string", enum: ["wary", "friendly"] }, value: mood },
      ...(name === undefined ? {} : { name: { schema: { type: "string" }, value: name } }),
    })),
    actions: cat.map(() => actionsOf(cat)),
    execute: (action, input) => executeIn(actionsOf(cat), action, input),
  };
}
