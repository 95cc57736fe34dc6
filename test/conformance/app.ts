import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import {
  audioBlock,
  body,
  cell,
  cellSource,
  content,
  defineSurface,
  imageBlock,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  readOnly,
  Refusal,
  resourceBlock,
  withJsonSchema,
} from "../../src/index.ts";
import { askingPrompts, askingTools } from "./asking-tools.ts";

/** One red pixel, and the shortest sound, in base64. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const percent = z.object({ progress: z.number(), total: z.number() });

// The names are the suite's. What can be a member is one, the rest is written by hand.
const conformance = defineSurface("conformance", {
  test_simple_text: readOnly(mcpTool(procedure({ output: z.string(), description: "Answers with a text" }))),
  test_tool_with_progress: readOnly(
    mcpTool(procedure({ output: z.string(), progress: percent, description: "Says how far along it is" })),
  ),
  test_error_handling: readOnly(mcpTool(procedure({ output: z.string(), description: "Always fails" }))),
  uptime: mcpResource(cell({ schema: z.int(), description: "How often the watched resource has changed" })),
});

const changes = cellSource(0);

/** How long the suite wants a tool to take between two messages, in milliseconds. */
const pauseMs = 50;

function implement() {
  return mcp(conformance, {
    version: "1.0.0",
    title: "Conformance",
    instructions: "Everything that the suite asks for",
  })
    .implement({
      test_simple_text: () => "This is a simple text response for testing.",
      async *test_tool_with_progress() {
        for (const progress of [0, 50, 100]) {
          yield { progress, total: 100 };
          await sleep(pauseMs);
        }
        return "All of it is done";
      },
      test_error_handling: () => {
        throw new Refusal("INTENDED", "This tool intentionally returns an error for testing");
      },
      uptime: changes,
    })
    .pull();
}

function addTools() {
  return implement().tools({
    test_image_content: {
      description: "Answers with a picture",
      mutates: false,
      handler: () => content([imageBlock({ data: png, mimeType: "image/png" })]),
    },
    test_audio_content: {
      description: "Answers with a sound",
      mutates: false,
      handler: () => content([audioBlock({ data: wav, mimeType: "audio/wav" })]),
    },
    test_embedded_resource: {
      description: "Answers with a resource",
      mutates: false,
      handler: () =>
        content([
          resourceBlock({
            uri: "test://embedded-resource",
            mimeType: "text/plain",
            text: "This is an embedded resource content.",
          }),
        ]),
    },
    test_multiple_content_types: {
      description: "Answers with a text, a picture and a resource",
      mutates: false,
      handler: () =>
        content([
          "Multiple content types test:",
          imageBlock({ data: png, mimeType: "image/png" }),
          resourceBlock({
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          }),
        ]),
    },
  });
}

function addLogging() {
  return addTools().tools({
    test_tool_with_logging: {
      description: "Writes three lines of the log",
      mutates: false,
      async handler(_args, { log }) {
        log("info", "Tool execution started");
        await sleep(pauseMs);
        log("info", "Tool processing data");
        await sleep(pauseMs);
        log("info", "Tool execution completed");
        return "Three lines were written";
      },
    },
    test_logging_tool: {
      description: "Writes a line of the log, where the caller wants to hear of it",
      mutates: false,
      handler: (_args, { log }) => {
        log("info", "Called");
        return "One line was written";
      },
    },
  });
}

/** What the suite wants to be listed as it is, and what it means. */
const suiteSchema = withJsonSchema(
  z
    .strictObject({
      name: z.string().optional(),
      address: z.object({ street: z.string().optional(), city: z.string().optional() }).optional(),
      contactMethod: z.enum(["phone", "email"]).optional(),
      phone: z.string().optional(),
      email: z.string().optional(),
    })
    .refine((value) => value[value.contactMethod ?? "email"] !== undefined, "it must say how to be contacted"),
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
);

function addSchemas() {
  return addLogging().tools({
    json_schema_2020_12_tool: {
      description: "Tool with JSON Schema 2020-12 features",
      mutates: false,
      input: suiteSchema,
      handler: () => "The arguments fit",
    },
    test_mirrored_header: {
      description: "Takes an argument that clients mirror in a header",
      mutates: false,
      input: z.object({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
      output: z.object({ region: z.string() }),
      handler: ({ region }) => ({ region }),
    },
  });
}

function addAsking() {
  return addSchemas().tools(askingTools).prompts(askingPrompts);
}

/** What the prompt's first argument can be, for whoever fills it in. */
const places = ["paris", "park", "party", "test"];

function addPrompts() {
  return addAsking().prompts({
    test_simple_prompt: {
      description: "A prompt without arguments",
      handler: () => "This is a simple prompt for testing.",
    },
    test_prompt_with_arguments: {
      description: "A prompt with two arguments",
      input: z.object({ arg1: z.string(), arg2: z.string() }),
      complete: { arg1: (begun) => places.filter((place) => place.startsWith(begun)) },
      handler: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    },
    test_prompt_with_embedded_resource: {
      description: "A prompt that holds a resource",
      input: z.object({ resourceUri: z.string() }),
      handler: ({ resourceUri }) => [
        {
          role: "user",
          content: resourceBlock({
            uri: resourceUri,
            mimeType: "text/plain",
            text: "Embedded resource content for testing.",
          }),
        },
        { role: "user", content: "Please process the embedded resource above." },
      ],
    },
    test_prompt_with_image: {
      description: "A prompt that holds a picture",
      handler: () => [
        { role: "user", content: imageBlock({ data: png, mimeType: "image/png" }) },
        { role: "user", content: "Please analyze the image above." },
      ],
    },
  });
}

/** Changes what is watched, and says so, for as long as somebody watches. */
async function* change(signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    await sleep(3_000, undefined, { signal, ref: false }).catch(() => {});
    changes.set(changes.get() + 1);
    yield;
  }
}

/** Everything that the conformance suite wants of a server. */
export function createConformanceApp() {
  return addPrompts().resources({
    static_text: {
      uri: "test://static-text",
      mimeType: "text/plain",
      description: "A text that stays as it is",
      read: () => "This is the content of the static text resource.",
    },
    static_binary: {
      uri: "test://static-binary",
      mimeType: "image/png",
      description: "A picture that stays as it is",
      read: () => body({ mimeType: "image/png", bytes: png }),
    },
    template: {
      uriTemplate: "test://template/{id}/data",
      variables: z.object({ id: z.string() }),
      description: "Data by id",
      read: ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
    },
    watched_resource: {
      uri: "test://watched-resource",
      mimeType: "text/plain",
      description: "A text that changes every three seconds while somebody watches",
      read: () => `Changed ${changes.get()} times`,
      watch: (_variables, { signal }) => change(signal),
    },
  });
}
