import { RawClient } from "../../http/node/raw-client.ts";
import { modern } from "../post.ts";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";
import { tenants } from "../targets.ts";

const filler = Array.from({ length: 2000 }, () => "a:");
const call = modern("tools/call", { name: "bump", arguments: { by: 1 } });

/** Header lines that must not be answered as if they were not there. */
function badLines({ random }: Attack): readonly string[] {
  return random.pick([
    ["host: evil.example"],
    ["origin: https://evil.example"],
    ["content-encoding: gzip"],
    ["mcp-name: report"],
    ["mcp-method: tools/list"],
    ["authorization: Bearer token-bob"],
    ["content-type: text/plain"],
  ]);
}

const tailHeads = (lines: readonly string[]): string => [...lines, "", ""].join("\r\n");

/** Sends one request on a connection of its own, and returns the status line. */
async function statusOf(port: number, text: string): Promise<string> {
  const client = new RawClient(port);
  client.send(text);
  try {
    return (await client.until("\r\n")).split("\r\n", 1)[0] ?? "";
  } catch {
    return "closed";
  } finally {
    client.socket.destroy();
  }
}

async function run(attack: Attack): Promise<Finding> {
  const { target, random, runs } = attack;
  const port = Number(target.url.port);
  const { body } = call;
  const own = [
    ...Object.entries(call.headers).map(([name, value]) => `${name}: ${value}`),
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${tenants[0].token}`,
  ];
  const breaks: string[] = [];
  // A connection each: fewer than the other scenarios' requests.
  const count = Math.ceil(runs / 5);
  await inParallel(count, async (index) => {
    const bad = badLines(attack);
    const isLong = index % 10 === 0;
    const lines = [...own, `content-length: ${body.length}`];
    const at = isLong ? lines.length : random.below(lines.length + 1);
    lines.splice(at, 0, ...(isLong ? filler : []), ...bad);
    const status = await statusOf(port, `POST /mcp HTTP/1.1\r\n${tailHeads(lines)}${body}`);
    if (/ 2\d\d /.test(status)) breaks.push(`${status} with ${isLong ? "2,000 headers and " : ""}${bad.join(", ")}`);
  });
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  for (const encoding of ["gzip, chunked", "chunked, chunked", "identity, chunked", "chunked, gzip", "xchunked"]) {
    const status = await statusOf(
      port,
      `POST /mcp HTTP/1.1\r\n${tailHeads([...own, `transfer-encoding: ${encoding}`])}${chunked}`,
    );
    if (/ 2\d\d /.test(status)) breaks.push(`${status} with transfer-encoding: ${encoding}`);
  }
  const smuggled = [...own, `content-length: ${body.length}`, "transfer-encoding: chunked"];
  const status = await statusOf(port, `POST /mcp HTTP/1.1\r\n${tailHeads(smuggled)}${chunked}`);
  if (/ 2\d\d /.test(status)) breaks.push(`${status} with a length and chunks`);
  const ran = (await target.report())?.bumped ?? 0;
  if (ran > 0) breaks.unshift(`${ran} calls ran behind such heads`);
  return { tried: `${count} heads with a second or a hidden header`, breaks };
}

/** A header that is there twice, or behind the parser's limit, must not go unseen. */
export const oddHeads: Scenario = { name: "odd heads", run };
