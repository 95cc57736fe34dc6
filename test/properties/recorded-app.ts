import { z } from "zod";
import { mcp } from "../../src/builder/mcp.ts";
import type { AppNames } from "../../src/builder/app-names.ts";
import type { LinkedApp } from "../../src/builder/stages.ts";
import { inProcess } from "../../src/links/in-process.ts";
import type { Connection, Link } from "../../src/links/link.ts";
import { cell, collection, event, procedure, stream } from "../../src/surface/define-members.ts";
import type { SurfaceChannel } from "../../src/surface/channel.ts";
import type { UseOptions } from "../../src/surface/client.ts";
import { createClient } from "../../src/surface/create-client.ts";
import { defineSurface, type Surface } from "../../src/surface/define-surface.ts";
import { implementSurface, type LiveSurface } from "../../src/surface/implement-surface.ts";
import type { Member, Spec } from "../../src/surface/member.ts";
import { cellSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";
import { surfaceName, type RandomMember, type RandomSurface, type RandomWritten } from "./random-surface.ts";

const text = z.string();
const input = z.object({ value: text });

/** A tool that waits for something does so for no longer than this, in milliseconds. */
const longestMs = 1;

/** Told of each operation that ran: a verb, and what it was of. */
export type Ran = (operation: string) => void;

/** An app that tells what of it ran. Whoever made it closes it. */
export interface RecordedApp {
  readonly app: LinkedApp<AppNames, Spec>;
  close(): Promise<void>;
}

function defineMember({ kind, hasInput }: RandomMember): Member {
  const asked = hasInput ? { input } : {};
  if (kind === "cell") return cell({ schema: text });
  if (kind === "collection") return collection({ key: text, schema: text });
  if (kind === "stream") return stream({ ...asked, output: text });
  return kind === "event" ? event({ ...asked, output: text }) : procedure({ ...asked, output: text });
}

function toolOptionsOf({ kind, reads, scopes }: RandomMember): object {
  return kind === "procedure" ? { mutates: !reads, scopes } : { scopes, timeoutMs: longestMs };
}

function tagged(member: RandomMember): Member {
  const plain = defineMember(member);
  if (member.shown === "none" || member.by === "map") return plain;
  // Which tag fits which kind is what was drawn.
  if (member.shown === "tool") return mcpTool(plain as never, toolOptionsOf(member) as never);
  const lists = member.kind === "collection" ? { listItems: member.lists } : {};
  // As above.
  return mcpResource(plain as never, { scopes: member.scopes, ...lists });
}

function exposeMap(members: readonly RandomMember[]): object {
  const named = members.filter(({ shown, by }) => shown !== "none" && by === "map");
  return Object.fromEntries(
    named.map((member) => [member.key, member.shown === "resource" ? "resource" : { tool: toolOptionsOf(member) }]),
  );
}

/** One value, and then nothing until it is ended. */
async function* give(tell: () => void, signal: AbortSignal): AsyncGenerator<string> {
  tell();
  yield "v";
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

function implementationOf({ key, kind, hasInput }: RandomMember, ran: Ran): unknown {
  if (kind === "cell") return cellSource("v");
  if (kind === "collection") return cellSource(new Map([["a", "v"]]));
  if (kind === "procedure") {
    return () => {
      ran(`touch ${key}`);
      return "v";
    };
  }
  // What takes no input is opened with the surface, by nobody.
  const tell = (): void => (hasInput ? ran(`touch ${key}`) : undefined);
  return (_input: unknown, { signal }: { readonly signal: AbortSignal }) => give(tell, signal);
}

/** A link that tells of each use that is made of what is behind it. */
function recordingLink(live: LiveSurface<Spec>, ran: Ran): Link {
  const link = inProcess(live);
  return {
    async connect<TSpec extends Spec>(surface: Surface<TSpec>, options?: UseOptions): Promise<Connection<TSpec>> {
      const connection = await link.connect(surface, options);
      const { channel: inner } = connection;
      const channel: SurfaceChannel = {
        request(use) {
          ran(`${use.verb} ${use.member}`);
          return inner.request(use);
        },
        subscribe(use) {
          ran(`${use.verb} ${use.member}`);
          return inner.subscribe(use);
        },
      };
      return { ...connection, channel, client: createClient(surface, channel) };
    },
  };
}

function toolOf({ name, hasInput, reads, scopes }: RandomWritten, ran: Ran): object {
  const handler = (): string => {
    ran(`tool ${name}`);
    return "v";
  };
  return { ...(hasInput ? { input } : {}), mutates: !reads, scopes, handler };
}

function completing(name: string, sort: string, ran: Ran): object {
  return {
    complete: {
      value: () => {
        ran(`complete ${sort} ${name}`);
        return ["v"];
      },
    },
  };
}

function promptOf({ name, hasInput, scopes }: RandomWritten, ran: Ran): object {
  const handler = (): string => {
    ran(`prompt ${name}`);
    return "v";
  };
  return { ...(hasInput ? { input, ...completing(name, "prompt", ran) } : {}), scopes, handler };
}

function resourceOf({ name, hasInput, scopes }: RandomWritten, ran: Ran): object {
  return {
    ...(hasInput ? { variables: input, ...completing(name, "resource", ran) } : {}),
    scopes,
    read: () => {
      ran(`read ${name}`);
      return "v";
    },
    watch: () => {
      ran(`follow ${name}`);
      return never();
    },
  };
}

/** Says nothing, until it is ended. */
function never(): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      let end = (_result: IteratorResult<unknown>): void => {};
      const ended = new Promise<IteratorResult<unknown>>((resolve) => (end = resolve));
      const over = { done: true, value: undefined } as const;
      return {
        next: () => ended,
        async return() {
          end(over);
          return over;
        },
      };
    },
  };
}

function writtenOf(all: readonly RandomWritten[], sort: RandomWritten["sort"], ran: Ran): object {
  const make = { tool: toolOf, prompt: promptOf, resource: resourceOf }[sort];
  return Object.fromEntries(all.filter((each) => each.sort === sort).map((each) => [each.name, make(each, ran)]));
}

/** Makes the app that was drawn, in every way that the builder has. */
export function createRecordedApp({ members, written, pull }: RandomSurface, ran: Ran): RecordedApp {
  const spec = Object.fromEntries(members.map((member) => [member.key, tagged(member)]));
  // What was drawn is not literal: the names are those of any app.
  const surface = defineSurface(surfaceName, spec as never) as unknown as Surface<Spec>;
  const handlers = Object.fromEntries(members.map((member) => [member.key, implementationOf(member, ran)]));
  // As above, and below.
  const live = implementSurface<Spec>(surface, handlers as never);
  const exposed = mcp(surface).expose(exposeMap(members) as never);
  const linked = exposed
    .bridge(recordingLink(live, ran))
    .tools(writtenOf(written, "tool", ran) as never)
    .prompts(writtenOf(written, "prompt", ran) as never)
    .resources(writtenOf(written, "resource", ran) as never) as unknown as LinkedApp<AppNames, Spec>;
  // Whether its names are free is known of what was drawn, and not of its type.
  const app = pull ? ((linked as { pull(): unknown }).pull() as LinkedApp<AppNames, Spec>) : linked;
  return { app, close: () => live.close() };
}
