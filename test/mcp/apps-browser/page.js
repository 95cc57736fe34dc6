// The page of the tool, bundled into its HTML: shows each result, and calls a tool for pages alone.
import { App } from "@modelcontextprotocol/ext-apps";

const app = new App({ name: "cart", version: "1.0.0" }, {});
const show = (id, text) => {
  document.getElementById(id).textContent = text;
};
app.addEventListener("toolinput", (input) => show("input", JSON.stringify(input.arguments)));
app.addEventListener("toolresult", (result) => show("result", JSON.stringify(result.structuredContent)));
document.getElementById("more").addEventListener("click", () => {
  void app
    .callServerTool({ name: "add", arguments: { items: 3 } })
    .then(({ content }) => show("called", content[0].text));
});
document.getElementById("leak").addEventListener("click", () => {
  void fetch(`${location.hash.slice(1)}/leak`).then(
    () => show("leaked", "yes"),
    () => show("leaked", "no"),
  );
});
await app.connect();
