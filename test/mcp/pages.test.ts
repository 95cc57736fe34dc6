import { describe, expect, it } from "vitest";
import { createPagedList, type PagedList } from "../../src/mcp/lists.ts";
import type { RpcAnswer } from "../../src/mcp/protocol.ts";

const items = ["1", "2", "3", "4", "5"];

function bodyOf(answer: RpcAnswer): Record<string, unknown> {
  return answer.kind === "result" ? JSON.parse(`{${answer.body}}`) : { code: answer.code };
}

function walk(list: PagedList): readonly unknown[] {
  const pages: unknown[] = [];
  let cursor: unknown;
  do {
    const page = bodyOf(list.page(cursor === undefined ? undefined : { cursor }));
    pages.push(page["n"]);
    cursor = page["nextCursor"];
  } while (cursor !== undefined);
  return pages;
}

describe("createPagedList()", () => {
  it.each([
    [1, [[1], [2], [3], [4], [5]]],
    [2, [[1, 2], [3, 4], [5]]],
    [5, [[1, 2, 3, 4, 5]]],
    [9, [[1, 2, 3, 4, 5]]],
  ])("gives everything once when a page holds %i", (pageSize, pages) => {
    expect(walk(createPagedList({ key: "n", items, pageSize }))).toEqual(pages);
  });

  it("returns one empty page for no items", () => {
    expect(walk(createPagedList({ key: "n", items: [], pageSize: 2 }))).toEqual([[]]);
  });

  it("refuses cursors of another list, content or page size", () => {
    const list = createPagedList({ key: "n", items, pageSize: 2 });
    const others = [
      createPagedList({ key: "m", items, pageSize: 2 }),
      createPagedList({ key: "n", items: [...items, "6"], pageSize: 2 }),
    ];
    const { nextCursor } = bodyOf(list.page(undefined));
    expect(bodyOf(list.page({ cursor: nextCursor }))).toMatchObject({ n: [3, 4] });
    for (const other of others) expect(bodyOf(other.page({ cursor: nextCursor }))).toEqual({ code: -32602 });
  });

  it.each(["", "nope", 1, null, {}, [], "__proto__", undefined])("refuses %j as a cursor", (cursor) => {
    expect(bodyOf(createPagedList({ key: "n", items, pageSize: 2 }).page({ cursor }))).toEqual({ code: -32602 });
  });

  it("takes no inherited cursor", () => {
    const params = Object.create({ cursor: "nope" });
    expect(bodyOf(createPagedList({ key: "n", items, pageSize: 9 }).page(params))).toEqual({ n: [1, 2, 3, 4, 5] });
  });

  it("a page is cut by its text as well as by its count", () => {
    const large = Array.from({ length: 5 }, (_, index) =>
      JSON.stringify({ name: `${index}`, text: "x".repeat(400_000) }),
    );
    const list = createPagedList({ key: "tools", items: large, pageSize: 100 });
    const names: string[] = [];
    let params: Record<string, unknown> | undefined;
    for (let pages = 0; pages < 10; pages++) {
      const answer = list.page(params);
      const text = JSON.stringify(answer);
      expect(text.length).toBeLessThan(1_200_000);
      names.push(...(text.match(/(?<=name\\":\\")\d/g) ?? []));
      const [cursor] = text.match(/(?<=nextCursor\\":\\")[^\\]+/) ?? [];
      if (cursor === undefined) break;
      params = { cursor };
    }
    expect(names).toEqual(["0", "1", "2", "3", "4"]);
  });
});
