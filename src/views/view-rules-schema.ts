import { maxPatternLength, maxPatterns } from "../catalog/glob.ts";
import { maxNameLength, type PlainSchema } from "./read-plain.ts";
import { viewDomain } from "./view-rules.ts";

/** The highest number of rules, in all packets together. */
export const maxRules = 10_000;

/** The highest number of packets. */
export const maxPackets = 1024;

/** The highest number of values of which one has to fit, and of characters of each. */
const maxValues = 1024;
const maxValueLength = 1024;

function text(maxLength: number, description?: string): PlainSchema {
  return { type: "string", minLength: 1, maxLength, ...(description === undefined ? {} : { description }) };
}

function object(properties: Readonly<Record<string, PlainSchema>>, more: PlainSchema = {}): PlainSchema {
  return { type: "object", properties, additionalProperties: false, ...more };
}

function list(items: PlainSchema, title: string, maxItems: number): PlainSchema {
  return { type: "array", title, items, minItems: 1, maxItems };
}

/** Names of rules, packets and views. */
export const name: PlainSchema = text(maxNameLength);

/** Texts that people or models read. Hosts cut instructions far below that. */
const words = text(8192);

const oneOf: PlainSchema = {
  description: "One value, or several of which one has to fit. Compared as they are, without patterns.",
  anyOf: [text(maxValueLength), list(text(maxValueLength), "texts", maxValues)],
};

const patterns: PlainSchema = {
  description:
    "Ids or names: * is any run of characters, ? is any one. Of tools also mcp__server__tool and server(tool).",
  type: "array",
  title: "patterns",
  items: text(maxPatternLength),
  maxItems: maxPatterns,
};

const viewProperties: Readonly<Record<string, PlainSchema>> = {
  allow: patterns,
  disallow: patterns,
  readOnly: { description: "Leaves only tools that change nothing.", type: "boolean" },
  instructions: text(8192, "Text for the model, after the instructions of the app."),
  face: {
    description: "Every tool by itself, or four that find and call the others.",
    enum: ["direct", "gateway"],
  },
};

/** A view by its name that shows something. */
export const shownView: PlainSchema = object(viewProperties);

/** A view by its name that refuses everyone. */
export const deniedView: PlainSchema = object({ deny: words }, { required: ["deny"] });

const condition = object(
  {
    surface: oneOf,
    user_agent: oneOf,
    project: oneOf,
    principal: oneOf,
    client: object(
      { name: oneOf, version: oneOf },
      { description: "The name and the version that the client gives itself.", minProperties: 1 },
    ),
  },
  {
    description:
      "All of the fields have to fit. A field that is not known of a caller fits nothing. Empty: every caller.",
  },
);

const toolSurface = object(
  { kind: { enum: ["tool_surface"] }, ...viewProperties },
  { description: "The entries that are left of the catalog.", required: ["kind"] },
);

const denial = object(
  { kind: { enum: ["deny"] }, reason: words },
  { description: "Refuses every caller.", required: ["kind", "reason"] },
);

/** A list of rules. */
export const rules: PlainSchema = list(
  object(
    { id: name, when: condition, verdict: { anyOf: [toolSurface, denial] } },
    { title: "rule", description: "The first rule whose condition fits decides.", required: ["verdict"] },
  ),
  "rules",
  maxRules,
);

/** A packet of rules. Editors find the schema of a file by `$schema`. */
export const packet: PlainSchema = object(
  {
    $schema: {},
    id: name,
    domain: { enum: [viewDomain] },
    description: text(4096),
    project: text(maxNameLength, "Its rules replace those of the packet for every project, for requests of this one."),
    rules,
  },
  {
    description: "Rules that are installed together. Of the packets of one scope the last holds.",
    required: ["id", "domain", "rules"],
  },
);
