import { expectAssignable, expectError, expectType } from "tsd";
import {
  defineSurface,
  mcp,
  mcpTool,
  procedure,
  readOnly,
  serveSurfaceAsMcp,
  type Confirm,
  type ToolConfirmOptions,
  type Link,
  type MountedOperation,
  type MutatingToolNames,
  type ToolNames,
  type ToolOptions,
} from "surface-mcp";

declare const link: Link;

const surface = defineSurface("s", {
  write: mcpTool(procedure({}), { confirm: true }),
  look: readOnly(mcpTool(procedure({}), { confirm: { otherwise: "allow" } })),
  free: mcpTool(procedure({}), { confirm: false }),
  plain: procedure({}),
});
const app = mcp(surface).bridge(link);

// Of the app: of either stage, once, and it changes no names.
const asked = app.confirm("mutating");
expectType<"write" | "look" | "free">(nameOf<ToolNames<typeof asked>>());
expectType<"write" | "free">(nameOf<MutatingToolNames<typeof asked>>());
app.confirm("mutating", { otherwise: "allow" });
app.confirm("mutating", { otherwise: "refuse" }).tools({ one: { handler: () => 1 } });
app.tools({ one: { handler: () => 1 } }).confirm("mutating");
mcp(surface).confirm("mutating").bridge(link);
expectError(asked.confirm("mutating"));
expectError(mcp(surface).confirm("mutating").bridge(link).confirm("mutating"));
expectError(asked.tools({ one: { handler: () => 1 } }).confirm("mutating"));
expectError(app.confirm());
expectError(app.confirm("all"));
expectError(app.confirm(true));
expectError(app.confirm("mutating", true));
expectError(app.confirm("mutating", { otherwise: "ask" }));
expectError(app.confirm("mutating", { or: "allow" }));
expectError(app.confirm("mutating", { type: "CLOSE" }));

// Of a tool: wherever options of tools are.
app.expose({ plain: { tool: { confirm: true } } });
app.expose({ plain: { tool: { confirm: { otherwise: "allow" } } } });
app.expose({ plain: { tool: { confirm: { type: "CLOSE", otherwise: "refuse" } } } });
app.tools({
  one: { confirm: true, handler: () => 1 },
  two: { confirm: { otherwise: "refuse" }, mutates: false, handler: () => 1 },
  three: { confirm: false, handler: () => 1 },
});
expectError(mcpTool(procedure({}), { confirm: "yes" }));
expectError(mcpTool(procedure({}), { confirm: { otherwise: "ask" } }));
expectError(app.expose({ plain: { tool: { confirm: 1 } } }));
expectError(app.expose({ plain: { tool: { confirm: { otherwise: "ask" } } } }));
expectError(app.tools({ one: { confirm: "yes", handler: () => 1 } }));
expectError(app.tools({ one: { confirm: { or: 1 }, handler: () => 1 } }));
expectAssignable<MountedOperation>({ name: "a", confirm: { otherwise: "allow" } });
expectError<MountedOperation>({ name: "a", confirm: "yes" });

// That users are asked makes nothing read-only.
const hand = app.tools({ one: { confirm: true, handler: () => 1 } });
expectType<"write" | "free" | "one">(nameOf<MutatingToolNames<typeof hand>>());

// In one call.
void serveSurfaceAsMcp({ surface, link, confirm: "mutating" });
void serveSurfaceAsMcp({ surface, link, confirm: { otherwise: "allow" } });
expectError(serveSurfaceAsMcp({ surface, link, confirm: true }));
expectError(serveSurfaceAsMcp({ surface, link, confirm: { otherwise: "ask" } }));

expectType<Confirm | undefined>(nameOf<ToolOptions>().confirm);
expectType<boolean | ToolConfirmOptions>(nameOf<Confirm>());

declare function nameOf<TName>(): TName;
