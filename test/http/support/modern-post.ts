const version = "2026-07-28";

/** Headers and body of a request of the modern era, as its clients send it. */
export function modernPost(method: string, params: Readonly<Record<string, unknown>> = {}, id = 1): RequestInit {
  const { _meta: own, ...rest } = params;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
    ...(typeof own === "object" ? own : {}),
  };
  const name = params["name"] ?? params["uri"];
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...rest, _meta: meta } }),
  };
}
