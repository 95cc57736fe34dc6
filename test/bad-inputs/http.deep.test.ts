import { describe, expect, it } from "vitest";
import { bundleScript } from "../fixtures/bundle-script.ts";
import { HostileServer } from "./http/hostile-server.ts";
import { readHttpCorpus } from "./http/http-input.ts";
import { judgeHttp } from "./http/judge-http.ts";
import { watchHttp } from "./http/run-http-case.ts";

const id = "hlegacy-init-flood-10k";

describe("the case of the corpus over HTTP that takes long", () => {
  it("hlegacy-init-flood-10k", { timeout: 120_000 }, async () => {
    const [flood] = readHttpCorpus().filter((badInput) => badInput.id === id);
    if (flood === undefined) throw new Error(`Reading the corpus: there is no ${id}`);
    const script = await bundleScript(new URL("../fixtures/hostile.ts", import.meta.url), "bad-inputs-flood");
    const server = new HostileServer(script, {});
    try {
      // The corpus expects a refusal. Sessions give way once they are idle for ten seconds, and not to a flood.
      const settled = { ...flood, expect: { httpAnyOf: [200, 409], maxRssDeltaMB: 64 } };
      expect(judgeHttp(settled, await watchHttp(server, settled, {}))).toEqual([]);
    } finally {
      await server.kill();
    }
  });
});
