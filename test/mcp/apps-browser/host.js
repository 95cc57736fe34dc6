// A host: the SDK's client, the bridge of ext-apps, and a sandbox on another origin.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

/** Shows the page of a tool with the result of a call. */
async function showTool({ era, name, args, sandbox }) {
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const client = new Client(
    { name: "host", version: "1.0.0" },
    { capabilities: { extensions }, ...(era === "modern" ? { versionNegotiation: { mode: "auto" } } : {}) },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  const declared = client.getServerCapabilities().extensions;
  const { tools } = await client.listTools();
  const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name));
  const { contents } = await client.readResource({ uri });
  const [{ text: html, mimeType, _meta = {} }] = contents;
  const bridge = new AppBridge(client, { name: "host", version: "1.0.0" }, { serverTools: {} });
  const frame = document.createElement("iframe");
  document.body.append(frame);
  const initialized = new Promise((resolve) => bridge.addEventListener("initialized", resolve));
  bridge.addEventListener("sandboxready", () => void bridge.sendSandboxResourceReady({ html, ..._meta.ui }));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  const csp = encodeURIComponent(JSON.stringify(_meta.ui?.csp ?? {}));
  frame.src = `${sandbox}/?csp=${csp}`;
  await initialized;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(await client.callTool({ name, arguments: args }));
  return { declared, uri, mimeType, version: client.getNegotiatedProtocolVersion() };
}

globalThis.showTool = showTool;
