import type { JsonSchema } from "../../schema/json.ts";
import type { Callable } from "./action-book.ts";
import { toId } from "../names.ts";
import type { FoundLink } from "./service-tree.ts";

/** How the tool is called that says where links lead. */
export const linksToolName = "list_links";

const outputSchema: JsonSchema = {
  type: "object",
  properties: {
    links: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "What the names of its actions begin with, where they are tools" },
          target: { type: "string", description: "How the service calls itself that it leads to" },
          cycleTo: {
            type: "string",
            description: 'The path of that service, where it leads back to it; "": the first one',
          },
        },
        required: ["path"],
        additionalProperties: false,
      },
    },
  },
  required: ["links"],
  additionalProperties: false,
};

/** A tool that says where links lead, also those that lead back. @param links - those there are when it is called. */
export function createLinksTool(links: () => readonly FoundLink[]): Callable {
  return {
    operation: Object.freeze({
      name: linksToolName,
      type: "query",
      description: "Where the links between services lead just now.",
      outputSchema,
    }),
    run: () => ({
      links: links().map(({ keys, target, cycleTo }) => ({
        path: toId(keys),
        ...(target === undefined ? {} : { target }),
        ...(cycleTo === undefined ? {} : { cycleTo: toId(cycleTo) }),
      })),
    }),
  };
}
