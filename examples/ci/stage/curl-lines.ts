const MODERN = "2026-07-28";

/** One request of the modern era, which needs nothing before it. */
function toCurl(url: string, method: string, params: Readonly<Record<string, unknown>> = {}): string {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "curl", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const { name } = params;
  const headers = [
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `mcp-protocol-version: ${MODERN}`,
    `mcp-method: ${method}`,
    ...(typeof name === "string" ? [`mcp-name: ${name}`] : []),
  ];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
  return `curl -sN ${url} ${headers.map((header) => `-H '${header}'`).join(" ")} -d '${body}'`;
}

/** What a person may paste into a shell to try a face that is served at a URL. */
export function toCurlLines(url: string): readonly string[] {
  return [
    "# What it offers",
    toCurl(url, "tools/list"),
    "# Start a run",
    toCurl(url, "tools/call", { name: "run", arguments: {} }),
    "# Be told of changes, until Ctrl-C",
    toCurl(url, "subscriptions/listen", { notifications: { resourceSubscriptions: ["surface://agent/nodes"] } }),
    "# The same by the Inspector, which shows more with a browser and without --cli",
    `npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`,
  ];
}
