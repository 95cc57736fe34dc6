import { render } from "preact";
import { App } from "./app.tsx";
import { Connection } from "./connection.ts";
import { ExposureLoader } from "./data/exposure-loader.ts";
import { OlderRows } from "./data/older-rows.ts";
import { PageData } from "./data/page-data.ts";
import type { Page } from "./page.ts";
import { getJson } from "./requests.ts";
import { closeOnEscape } from "./ui/drawer.tsx";
import { titleOf } from "./ui/header.tsx";
import { onKeptChange } from "./ui/kept-state.ts";

const root = document.getElementById("page");
let isScheduled = false;

/** Draws at most once a frame. A hidden page has no frames, and draws nothing. */
function changed(): void {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    document.title = titleOf(data);
    if (root !== null) render(<App page={page} />, root);
  });
}

const data = new PageData(() => performance.now());
const page: Page = {
  data,
  exposure: new ExposureLoader(data, { load: getJson, changed }),
  older: new OlderRows(data, { load: (query) => getJson("history", query), changed }),
};
const connection = new Connection(data, changed);

onKeptChange(changed);
addEventListener("keydown", closeOnEscape);
// A link that is opened in the tab of this page changes the fragment only.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void connection.open();
  changed();
});
// Spans of time grow without messages.
setInterval(changed, 1000);
changed();
void connection.open();
