// The sandbox proxy of the MCP Apps specification: an inner frame with the page, and messages passed on both ways.
const inner = document.createElement("iframe");
inner.setAttribute("sandbox", "allow-scripts");
document.body.append(inner);
addEventListener("message", ({ source, data }) => {
  if (source === inner.contentWindow) parent.postMessage(data, "*");
  else if (data?.method === "ui/notifications/sandbox-resource-ready") inner.srcdoc = data.params.html;
  else inner.contentWindow.postMessage(data, "*");
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
