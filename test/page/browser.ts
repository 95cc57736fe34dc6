import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const candidates = [process.env["SURFACE_MCP_CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser"];
const path = candidates.find((one) => one !== undefined && existsSync(one));

/** Whether tests in a real browser run. */
export const hasBrowser: boolean = path !== undefined;

/** Stands in the name of tests that are skipped. */
export const whyNoBrowser: string = hasBrowser ? "" : " (skipped: chromium is not installed; apt-get install chromium)";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the browser. @param further - flags of the test. */
export async function launchBrowser(...further: readonly string[]): Promise<Browser> {
  return chromium.launch({ ...(path !== undefined && { executablePath: path }), args: [...flags, ...further] });
}

/** Everything that the browser reports as wrong: errors of scripts, and what the policy of the page refuses. */
export function collectProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    const isIcon = message.location().url.endsWith("/favicon.ico");
    if (["error", "warning"].includes(message.type()) && !isIcon) problems.push(message.text());
  });
  return problems;
}
