import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { envelope } from "../fixtures/envelope.ts";
import { ServerProcess } from "../fixtures/server-process.ts";
import { traversals, type Traversal } from "../fixtures/traversals.ts";
import { prepare } from "./send-input.ts";

type Loose = Readonly<Record<string, unknown>>;

let script = "";
beforeAll(async () => {
  script = await bundleScript(new URL("../fixtures/traversal-server.ts", import.meta.url), "bad-traversals");
});

const eras = [
  { era: "modern", precondition: "modern", unknown: -32_602, meta: { _meta: envelope } },
  { era: "legacy", precondition: "legacy-ready", unknown: -32_002, meta: {} },
] as const;

describe.each(eras)("a path that climbs, in the $era era,", ({ precondition, unknown, meta }) => {
  let server: ServerProcess;
  let lastId = 0;
  beforeAll(async () => {
    server = new ServerProcess(script);
    await prepare(server, precondition);
  });
  afterAll(() => server.kill());

  /** Sends a request; its answer, and what reached a handler meanwhile. */
  async function ask(method: string, params: Loose): Promise<{ answer: Loose; marks: readonly unknown[] }> {
    const before = server.marks.length;
    lastId += 1;
    const frame = await server.request({ id: lastId, method, params: { ...params, ...meta } });
    return { answer: frame?.message ?? {}, marks: server.marks.slice(before).map(([, value]) => value) };
  }

  /** Which of these URIs can be subscribed to, as each era is told. */
  async function subscribe(wanted: readonly string[]): Promise<readonly string[]> {
    if (precondition === "modern") {
      const params = { notifications: { resourceSubscriptions: wanted }, ...meta };
      await server.send(JSON.stringify({ jsonrpc: "2.0", id: "listen", method: "subscriptions/listen", params }));
      const find = () => server.frames.find(({ message }) => String(message["method"]).endsWith("/acknowledged"));
      await server.until(() => find() !== undefined);
      // What an acknowledgement has.
      const ack = find()?.message as { params?: { notifications?: { resourceSubscriptions?: string[] } } };
      return ack.params?.notifications?.resourceSubscriptions ?? [];
    }
    const taken: string[] = [];
    for (const uri of wanted) {
      const { answer } = await ask("resources/subscribe", { uri });
      if ("result" in answer) taken.push(uri);
    }
    return taken;
  }

  const uris = ({ segment }: Traversal): readonly string[] => [
    ...[`app://log/${segment}`, `app://files/${segment}`],
    ...[`app://page/${segment}`, `site://pages/${segment}/text`],
  ];
  const climbing = traversals.filter(({ given }) => given === undefined);

  it.each(climbing)("reaches no handler by a read when it is spelled with $name", async (traversal) => {
    for (const uri of uris(traversal)) {
      const { answer, marks } = await ask("resources/read", { uri });
      expect([answer, marks]).toMatchObject([{ error: { code: unknown } }, []]);
    }
  });

  it.each(traversals.filter(({ given }) => given !== undefined))(
    "is an ordinary name, decoded once, when it only looks like a path, with $name",
    async (traversal) => {
      for (const uri of uris(traversal)) {
        const { marks } = await ask("resources/read", { uri });
        expect(new Set(marks)).toEqual(new Set([traversal.given]));
      }
    },
  );

  it("looks unknown when it is refused", async () => {
    const never = (await ask("resources/read", { uri: "app://never" })).answer;
    for (const uri of climbing.flatMap(uris)) {
      const { answer } = await ask("resources/read", { uri });
      const named = JSON.stringify(never).replaceAll("app://never", JSON.stringify(uri).slice(1, -1));
      expect({ ...answer, id: 0 }).toEqual({ ...(JSON.parse(named) as Loose), id: 0 });
    }
  });

  it("is watched by no code when it is subscribed to", async () => {
    const before = server.marks.length;
    expect(await subscribe([...climbing.flatMap(uris), "app://files/a"])).toEqual(["app://files/a"]);
    expect(server.marks.slice(before).filter(([, value]) => value !== "a")).toEqual([]);
  });

  it("is refused by the tools that read and wait", async () => {
    for (const uri of climbing.flatMap(uris)) {
      const read = await ask("tools/call", { name: "read_resource", arguments: { uri } });
      const wait = await ask("tools/call", { name: "wait_for_change", arguments: { uris: [uri], timeout_ms: 1 } });
      for (const { answer, marks } of [read, wait]) {
        expect([answer, marks]).toMatchObject([{ result: { isError: true } }, []]);
      }
    }
  });

  it("is plain data, passed on as it is, when it is an argument of a tool", async () => {
    for (const { segment, given } of traversals) {
      for (const path of [segment, given ?? ""]) {
        const { answer, marks } = await ask("tools/call", { name: "open", arguments: { path } });
        expect([answer, marks]).toMatchObject([{ result: { structuredContent: { value: path } } }, [path]]);
      }
    }
  });

  it("is passed on unchanged as an argument of a prompt, or as a begun value", async () => {
    const ref = { type: "ref/prompt", name: "explain" };
    for (const { segment, given } of traversals) {
      for (const path of [segment, given ?? ""]) {
        const got = await ask("prompts/get", { name: "explain", arguments: { path } });
        expect([got.answer, got.marks]).toMatchObject([
          { result: { messages: [{ content: { text: path } }] } },
          [path],
        ]);
        const completed = await ask("completion/complete", { ref, argument: { name: "path", value: path } });
        expect([completed.answer, completed.marks]).toMatchObject([
          { result: { completion: { values: [path] } } },
          [path],
        ]);
      }
    }
  });

  it("proposes no key that no URI can spell when keys climb", async () => {
    const ref = { type: "ref/resource", uri: "app://files/{key}" };
    const { answer } = await ask("completion/complete", { ref, argument: { name: "key", value: "" } });
    expect(answer).toMatchObject({ result: { completion: { values: ["a", "．．／．．／etc／passwd"] } } });
  });

  it("is distinct from similar keys in lists and reads", async () => {
    const { answer } = await ask("resources/list", {});
    const listed = JSON.stringify(answer);
    // A key that climbs has no URI; names that only look like one do.
    expect(listed).not.toMatch(/\.\.%2F|\.\.\/|%25/);
    expect(listed).toContain(`app://files/${encodeURIComponent("．．／．．／etc／passwd")}`);
    const spellings = ["a", "%61"].map(async (segment) => {
      const read = await ask("resources/read", { uri: `app://files/${segment}` });
      return JSON.stringify(read.answer["result"]).replace(`files/${segment}`, "files/?");
    });
    expect(new Set(await Promise.all(spellings)).size).toBe(1);
    expect(server.noise).toEqual([]);
  });
});
