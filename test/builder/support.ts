import { z } from "zod";
import type { Link } from "../../src/links/link.ts";
import type { AppRuntime, ServableApp, ServeTarget, Serving } from "../../src/mcp/servable-app.ts";
import { cell, procedure, stream } from "../../src/surface/define-members.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { cellSource, type WritableSource } from "../../src/surface/source.ts";
import { mcpResource } from "../../src/tags/mcp-resource.ts";
import { mcpTool } from "../../src/tags/mcp-tool.ts";

/** One of each that the builder treats differently: tagged as a resource and as a tool, and untagged. */
export const counter = defineSurface("counter", {
  value: mcpResource(cell({ schema: z.number() })),
  "count.bump": mcpTool(procedure({ input: z.object({ by: z.number() }), output: z.number() })),
  log: stream({ output: z.string() }),
  reset: procedure({}),
});

/** Handlers over one number. */
export function countingHandlers(value: WritableSource<number> = cellSource(0)) {
  return {
    value,
    "count.bump": ({ by }: { by: number }) => {
      value.set(value.get() + by);
      return value.get();
    },
    async *log() {
      yield "line";
    },
    reset: () => value.set(0),
  };
}

/** A link to nothing, which counts how often it was dialled. */
export function deadLink(): Link & { readonly dials: number } {
  let dials = 0;
  return {
    get dials() {
      return dials;
    },
    connect() {
      dials += 1;
      return Promise.reject(new Error("nobody is there"));
    },
  };
}

/** A target that opens what it is given, and nothing else. */
export function holdingTarget(): ServeTarget & { readonly served: AppRuntime[] } {
  const served: AppRuntime[] = [];
  return {
    served,
    async serve(app: ServableApp): Promise<Serving> {
      const runtime = app.open();
      served.push(runtime);
      return { closed: Promise.resolve(), close: () => runtime.close() };
    },
  };
}
