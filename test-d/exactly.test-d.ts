import { expectError, expectType } from "tsd";
import {
  cell,
  defineSurface,
  mcp,
  mcpResource,
  mcpTool,
  procedure,
  type Exactly,
  type Link,
  type MountSource,
  type ResourceNames,
  type Spec,
  type Surface,
  type ToolNames,
} from "surface-mcp";
import { mcpAgentic } from "surface-mcp/from/agentic";
import { z } from "zod";

declare const link: Link;
declare const source: MountSource;
declare const services: Parameters<typeof mcpAgentic>[0];

const surface = defineSurface("s", { state: mcpResource(cell({ schema: z.number() })), run: mcpTool(procedure({})) });
const app = mcp(surface).bridge(link);

expectType<true>(check<Exactly<ToolNames<typeof app>, "run">>());
expectType<true>(check<Exactly<ResourceNames<typeof app>, "state">>());
expectType<true>(check<Exactly<never, never>>());
expectError<true>(check<Exactly<ToolNames<typeof app>, "run" | "more">>());
expectError<true>(check<Exactly<ToolNames<typeof app>, never>>());
expectError<true>(check<Exactly<never, "run">>());

// A mount adds a pattern, which a Record over the names does not demand.
const mounted = app.mount("git", source);
const blind: Record<ToolNames<typeof mounted>, true> = { run: true };
expectError<true>(check<Exactly<ToolNames<typeof mounted>, keyof typeof blind & "run">>());
expectError<true>(check<Exactly<ToolNames<typeof mounted>, "run" | "git_status">>());
expectError<true>(check<Exactly<ToolNames<typeof app>, "run" | `git_${string}`>>());
expectType<true>(check<Exactly<ToolNames<typeof mounted>, "run" | `git_${string}`>>());

// A widened surface and an app of somebody else's services may have any name.
const widened = mcp(surface as unknown as Surface<Spec>).bridge(link);
expectError<true>(check<Exactly<ToolNames<typeof widened>, "run">>());
expectError<true>(check<Exactly<ResourceNames<typeof widened>, "state">>());
const agentic = mcpAgentic(services);
expectError<true>(check<Exactly<ToolNames<typeof agentic>, "run">>());
expectType<true>(check<Exactly<ToolNames<typeof agentic>, string>>());

// `any` proves nothing on either side, and an app without a link has no names yet.
expectError<true>(check<Exactly<any, "run">>());
expectError<true>(check<Exactly<"run", any>>());
expectError<true>(check<Exactly<any, any>>());
const unlinked = mcp(surface);
expectError<true>(check<Exactly<ToolNames<typeof unlinked>, "run">>());
expectError<true>(check<Exactly<unknown, "run">>());

declare function check<TResult>(): TResult;
