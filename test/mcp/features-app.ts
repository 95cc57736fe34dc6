import * as z from "zod";
import { audioBlock, content, imageBlock, linkBlock, resourceBlock } from "../../src/catalog/content/content.ts";
import { body } from "../../src/catalog/content/resource-body.ts";
import { richContent } from "../../src/catalog/content/rich-content.ts";
import {
  cellSource,
  collection,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  Refusal,
  stream,
  type McpOptions,
} from "../../src/index.ts";

/** One pixel, in base64. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const studio = defineSurface("studio", {
  tracks: mcpResource(collection({ key: z.string(), schema: z.object({ seconds: z.number() }) })),
  takes: mcpResource(collection({ key: z.int(), schema: z.string() })),
  vault: collection({ key: z.string(), schema: z.string() }),
  chart: mcpTool(procedure({ output: richContent })),
  meter: mcpResource(
    stream({
      input: z.object({ side: z.enum(["left", "right"]), peak: z.boolean(), unit: z.string().optional() }),
      output: z.object({ level: z.number() }),
    }),
  ),
});

/** Keys of which several begin alike, in either case. */
export const tracks = ["Bass", "ballad", "drums", "a/b ü", "../up", "\u202ebass"];

const looks = { icons: [{ src: "https://studio.example/icon.png", mimeType: "image/png" }], meta: { "studio/x": [1] } };

function implement(options: McpOptions) {
  return mcp(studio, { uriPrefix: "studio://", onFault: () => {}, ...options }).implement({
    tracks: cellSource(new Map(tracks.map((key) => [key, { seconds: 1 }]))),
    takes: cellSource(new Map(Array.from({ length: 250 }, (_, index) => [index, "take"]))),
    vault: cellSource(new Map([["secret", "x"]])),
    chart: () => content(["Levels", imageBlock({ data: pixel, mimeType: "image/png" })], { structured: [1, 2] }),
    async *meter() {
      yield { level: 1 };
    },
  });
}

function addTools(options: McpOptions) {
  return implement(options).tools({
    picture: { handler: () => content([imageBlock({ data: pixel, mimeType: "image/png" })]), ...looks },
    sound: { handler: () => content([audioBlock({ data: pixel, mimeType: "audio/wav" })]) },
    file: {
      handler: () =>
        content([
          resourceBlock({ uri: "file:///a.txt", mimeType: "text/plain", text: "a\ud800" }),
          resourceBlock({ uri: "file:///b.bin", bytes: new Uint8Array([1, 2, 3]) }),
        ]),
    },
    link: {
      handler: (_args, { log }) => {
        log("debug", "looked up");
        return content([linkBlock({ uri: "studio://tracks", name: "tracks", title: "Tracks" })]);
      },
    },
    mixed: {
      output: z.object({ count: z.int() }),
      handler: () =>
        content(["Two of them", imageBlock({ data: pixel, mimeType: "image/png", annotations: { priority: 1 } })], {
          structured: { count: 2 },
        }),
      meta: { "anthropic/maxResultSizeChars": 100_000 },
    },
    bulk: { handler: () => "ü".repeat(300_000) },
  });
}

function addPrompts(options: McpOptions) {
  return addTools(options).prompts({
    review: {
      title: "Review a track",
      description: "Asks for a review",
      ...looks,
      input: z.object({
        track: z.string().meta({ title: "Track", description: "Its name" }),
        tone: z.enum(["plain", "kind", "keen"]),
        bars: z.int().min(1).optional(),
      }),
      complete: { track: async (_begun, { client }) => client.tracks.keys() },
      handler: ({ track, tone, bars }) => [
        { role: "user", content: `Review ${track}, ${tone}, ${bars ?? "all"} bars` },
        { role: "assistant", content: imageBlock({ data: pixel, mimeType: "image/png" }) },
      ],
    },
    hello: { handler: () => "Hello\ud800" },
    refused: {
      handler: () => {
        throw new Refusal("CLOSED_TODAY", "The studio is closed", { until: "Monday" });
      },
    },
    fetch: {
      input: z.object({ shelf: z.string(), box: z.string() }),
      complete: {
        shelf: () => new Promise(() => {}),
        box: (_begun, { arguments: filled }) => [
          `${filled["shelf"]}-1`,
          `${filled["shelf"]}-2`,
          String(filled["constructor"]),
          Object.keys(filled).join(),
        ],
      },
      handler: ({ shelf, box }) => `${shelf}/${box}`,
    },
    broken: {
      input: z.object({ any: z.string(), junk: z.string() }),
      complete: {
        any: () => {
          throw new Error("secret-token-xyz");
        },
        // What an honest author's types would not let through.
        junk: () => 5 as unknown as string[],
      },
      handler: () => {
        throw new Error("secret-token-xyz");
      },
    },
  });
}

/** One of everything that the protocol has besides members: prompts, rich results, bodies, looks. Errors are not told. */
export function createFeaturesApp(options: McpOptions = {}) {
  return addPrompts(options).resources({
    cover: {
      mimeType: "image/png",
      title: "Cover",
      ...looks,
      read: () => body({ mimeType: "image/png", bytes: pixel }),
    },
    notes: {
      variables: z.object({ page: z.int() }),
      mimeType: "text/markdown",
      read: ({ page }) => (page > 2 ? undefined : body({ mimeType: "text/markdown", text: `# ${page}\ud800` })),
    },
    bin: {
      variables: z.object({ shelf: z.string(), box: z.string() }),
      complete: { box: (_begun, { arguments: filled }) => [`${filled["shelf"]}-1`] },
      read: () => null,
    },
    tempo: { read: () => ({ bpm: 120 }) },
  });
}
