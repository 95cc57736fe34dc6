/**
 * The floor under both servers: reads JSON-RPC lines, parses them, answers a call of `echo` and writes JSON, and nothing else. It
 * validates nothing, bounds nothing and knows no other method than the first request of a session.
 */
interface Call {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly _meta?: object;
    readonly arguments?: { readonly text: string };
  };
}

function toResult({ method, params }: Call): object {
  if (method !== "tools/call") return { protocolVersion: "2025-11-25", capabilities: {} };
  const structuredContent = { text: params?.arguments?.text };
  const content = [{ type: "text", text: JSON.stringify(structuredContent) }];
  return { content, structuredContent, ...(params?.["_meta"] === undefined ? {} : { resultType: "complete" }) };
}

let rest = "";

process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  let answers = "";
  for (const line of lines) {
    const call = JSON.parse(line) as Call;
    if (call.id !== undefined) {
      answers += `${JSON.stringify({ jsonrpc: "2.0", id: call.id, result: toResult(call) })}\n`;
    }
  }
  process.stdout.write(answers);
});
