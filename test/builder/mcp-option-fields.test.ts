import { describe, expect, it } from "vitest";
import { mcp } from "../../src/builder/mcp.ts";
import { serveSurfaceAsMcp } from "../../src/builder/serve-surface-as-mcp.ts";
import { cast, expectRefusal } from "../tags/support.ts";
import { counter, deadLink, holdingTarget } from "./support.ts";

describe("options of an app", () => {
  it("mcp() accepts every option with a valid value", () => {
    const options = {
      name: "server",
      version: "1.2.3",
      title: "A server",
      description: "For people",
      websiteUrl: "https://a.test/",
      icons: [{ src: "https://a.test/i.png", sizes: ["48x48"] }],
      instructions: "Use it",
      uriPrefix: "app://",
      pageSize: 1,
      changeWindowMs: 0,
      onFault: () => {},
      observe: [() => {}, { record: () => {} }],
      toRefusal: () => undefined,
    };
    expect(() => mcp(counter, options)).not.toThrow();
    expect(() => cast(mcp, counter, { name: undefined })).not.toThrow();
  });

  it.each([
    [{ nope: 1 }, '"nope" is not an option'],
    [{ toString: 1 }, '"toString" is not an option'],
    [{ name: 1 }, '"name" must be a text'],
    [{ version: null }, '"version" must be a text'],
    [{ title: {} }, '"title" must be a text'],
    [{ description: 1 }, '"description" must be a text'],
    [{ websiteUrl: "a.test" }, '"websiteUrl" must be an https: or http: URL'],
    [{ websiteUrl: "javascript:1" }, '"websiteUrl" must be'],
    [{ icons: [{ src: "http://a.test" }] }, '"icons.0.src" must be an https: or data: URI'],
    [{ icons: "https://a.test" }, '"icons" must be a list'],
    [{ instructions: ["a"] }, '"instructions" must be a text'],
    [{ uriPrefix: "" }, 'must be like "app://"'],
    [{ uriPrefix: "app" }, 'must be like "app://"'],
    [{ uriPrefix: "app://{x}" }, 'must be like "app://"'],
    [{ uriPrefix: "app://a b" }, 'must be like "app://"'],
    [{ pageSize: 0 }, '"pageSize" must be a whole number of at least 1'],
    [{ pageSize: 1.5 }, '"pageSize" must be a whole number of at least 1'],
    [{ pageSize: Number.NaN }, '"pageSize" must be a whole number of at least 1'],
    [{ pageSize: "10" }, '"pageSize" must be a whole number of at least 1'],
    [{ changeWindowMs: -1 }, '"changeWindowMs" must be a number of milliseconds from 0 to 60000'],
    [{ changeWindowMs: 60_001 }, '"changeWindowMs" must be a number'],
    [{ changeWindowMs: Number.NaN }, '"changeWindowMs" must be a number'],
    [{ changeWindowMs: "100" }, '"changeWindowMs" must be a number'],
    [{ onFault: "log" }, '"onFault" must be a function'],
    [{ observe: "log" }, "Cannot observe an app: the observer must be a function"],
    [{ observe: [{}] }, "Cannot observe an app: the observer must be a function"],
  ])("mcp() throws INVALID_OPTION for %j", (options, sentence) => {
    expectRefusal(() => cast(mcp, counter, options), "INVALID_OPTION", sentence);
  });

  it("serveSurfaceAsMcp() rejects with INVALID_OPTION when an option does not exist", async () => {
    const options = { surface: counter, link: deadLink(), target: holdingTarget(), nope: 1 };
    await expect(cast(serveSurfaceAsMcp, options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });
});
