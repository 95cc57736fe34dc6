import { describe, expect, it } from "vitest";
import * as z from "zod";
import { cell } from "../../src/surface/define-members.ts";
import { surfaceClientRef, implementProjection, projectSurface } from "../../src/surface/project-surface.ts";
import { defineSurface } from "../../src/surface/define-surface.ts";
import { derive } from "../../src/surface/derive/derive.ts";
import { implementSurface } from "../../src/surface/implement-surface.ts";
import { cellSource } from "../../src/surface/source.ts";
import { failure } from "./support.ts";

const source = defineSurface("source", { value: cell({ schema: z.number() }) });
const shown = defineSurface("shown", { twice: cell({ schema: z.number() }) });
const projection = projectSurface(source, shown, (client) => ({ twice: derive.cell(client.value, (n) => n * 2) }));

describe("projectSurface()", () => {
  it("creates a surface with the members of the given one", () => {
    expect(projection.name).toBe("shown");
    expect(projection.members).toBe(shown.members);
    expect(Object.isFrozen(projection)).toBe(true);
  });

  it("refuses a value that is not a surface, and one that is not a function", () => {
    expect(() => projectSurface({} as never, shown, () => ({}) as never)).toThrow(failure("INVALID_OPTION"));
    expect(() => projectSurface(source, shown, {} as never)).toThrow(failure("INVALID_OPTION"));
  });
});

describe("implementProjection()", () => {
  it("closes its client with itself, and leaves the source open", async () => {
    const upstream = implementSurface(source, { value: cellSource(1) });
    const ref = surfaceClientRef(upstream);
    const live = implementProjection(projection, ref);
    expect(await surfaceClientRef(live).client.twice.get()).toBe(2);
    await live.close();
    await expect(ref.client.value.get()).rejects.toMatchObject({ code: "CLOSED" });
    expect(await surfaceClientRef(upstream).client.value.get()).toBe(1);
    await upstream.close();
  });

  it("leaves the client to its creator when it fails", async () => {
    const upstream = implementSurface(source, { value: cellSource(1) });
    const ref = surfaceClientRef(upstream);
    const broken = projectSurface(source, shown, () => ({}) as never);
    expect(() => implementProjection(broken, ref)).toThrow(failure("MISSING_HANDLER"));
    expect(await ref.client.value.get()).toBe(1);
    await upstream.close();
  });

  it("refuses a handler that is not a member, also in a variable", async () => {
    const upstream = implementSurface(source, { value: cellSource(1) });
    const handlers = { twice: cellSource(1), thrice: cellSource(1) };
    const excessive = projectSurface(source, shown, () => handlers);
    expect(() => implementProjection(excessive, surfaceClientRef(upstream))).toThrow('"thrice" is not a member of it');
    await upstream.close();
  });

  it("refuses a client of another surface", async () => {
    const other = implementSurface(shown, { twice: cellSource(1) });
    expect(() => implementProjection(projection, surfaceClientRef(other) as never)).toThrow(
      failure("CONTRACT_MISMATCH"),
    );
    const lacking = implementSurface(defineSurface("source", {}), {});
    expect(() => implementProjection(projection, surfaceClientRef(lacking) as never)).toThrow(
      failure("CONTRACT_MISMATCH"),
    );
    await Promise.all([other.close(), lacking.close()]);
  });

  it("closes its client also when the live surface fails to close, and reports both", async () => {
    const upstream = implementSurface(source, { value: cellSource(1) });
    const ref = { ...surfaceClientRef(upstream), close: () => Promise.reject(new Error("it would not close")) };
    const live = implementProjection(projection, ref);
    await expect(live.close()).rejects.toThrow(AggregateError);
    await expect(live.close()).rejects.toThrow(AggregateError);
    await upstream.close();
  });
});
