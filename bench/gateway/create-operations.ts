import { operationRegistry, type OperationRegistry } from "../../src/index.ts";
import { z } from "zod";

const namespaces =
  "git coord deploy billing users search mail calendar files metrics logs alerts queue cache auth crm docs chat tasks media geo legal audit flags jobs".split(
    " ",
  );

const nouns =
  "branch session release invoice account index message event folder dashboard stream rule topic entry token contact page channel ticket image".split(
    " ",
  );

const verbs: readonly (readonly [verb: string, says: string, isRead: boolean])[] = [
  ["create", "Create one, and answer its id", false],
  ["get", "Get one by its id, with everything that is known of it", true],
  ["list", "List those that there are, newest first, a page at a time", true],
  ["update", "Change some of its fields; what is left out stays as it is", false],
  ["delete", "Delete one for good. It cannot be brought back", false],
  ["archive", "Put one aside: it is kept, and no longer listed", false],
  ["restore", "Bring back one that was put aside", false],
  ["copy", "Make another one like it, under a name of its own", false],
  ["move", "Put one under another owner; its id stays the same", false],
  ["rename", "Give one another name", false],
  ["count", "Count those that fit, without listing them", true],
  ["export", "Write those that fit into a file, and answer where it can be read", true],
  ["import", "Read them from a file that was uploaded before", false],
  ["validate", "Check one without changing anything, and say what is wrong with it", true],
  ["lock", "Keep everybody else from changing one, for a while", false],
  ["unlock", "Let others change one again", false],
  ["assign", "Say who is responsible for one", false],
  ["tag", "Put words on one that it is found by", false],
  ["watch", "Be told when one changes", false],
  ["history", "List who changed one, when, and what was before", true],
];

const input = z.object({
  id: z.string().describe("Which one, as list and search tell it"),
  owner: z.string().optional().describe("Whose; default: the caller's own"),
  fields: z.array(z.string()).max(32).optional().describe("Only these fields of the answer"),
  dryRun: z.boolean().default(false).describe("Say what would happen, and do nothing"),
});

const output = z.object({
  id: z.string(),
  state: z.enum(["active", "archived", "deleted"]),
  updatedAt: z.string().describe("ISO 8601"),
});

function nth<TValue>(values: readonly TValue[], index: number): TValue {
  const value = values[index % values.length];
  if (value === undefined) throw new RangeError(`nothing at ${index}`);
  return value;
}

/** The operation that is called, and how somebody finds it who knows what they want. */
export const wanted = { name: "git.create_branch", q: "create branch", input: { id: "feature/login", owner: "ada" } };

/** Words that somebody may look for: few and many, rare and frequent, begun and whole. */
export const queries: readonly string[] = [
  wanted.q,
  ...nouns,
  ...verbs.map(([verb]) => verb),
  ...namespaces,
  ...nouns.map((noun, index) => `${nth(verbs, index)[0]} ${noun}`),
  ...nouns.map((noun, index) => `${nth(namespaces, index)} ${noun} ${nth(verbs, index + 3)[0]}`),
  ..."one its those is answer owner id hub h g a it of the git.create_branch hub.git git_c nothing".split(" "),
];

/** A registry of so many operations, at most 10,000: each is in a namespace, does something to something, and says what. */
export function createOperations(count: number): OperationRegistry {
  const registry = operationRegistry();
  for (let index = 0; index < count; index += 1) {
    const [verb, says, isRead] = nth(verbs, Math.floor(index / 25));
    // Another one for each, and again another one when all verbs have been through.
    const noun = nth(nouns, index + Math.floor(index / 500));
    const operation = {
      name: `${nth(namespaces, index)}.${verb}_${noun}`,
      type: isRead ? "query" : "mutation",
      title: `${verb} a ${noun}`,
      description: `${says}. Works on each ${noun} of the ${nth(namespaces, index)} system that the caller may see.`,
      tags: [noun],
      inputSchema: input,
      outputSchema: output,
    } as const;
    registry.register(operation, ({ id }) => ({ id, state: "active" as const, updatedAt: "2026-01-01T00:00:00Z" }));
  }
  return registry;
}
