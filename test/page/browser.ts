import { type Browser, chromium, type Page } from "playwright-core";
import { chromiumOptions } from "../fixtures/chromium.ts";

/** Starts the browser. @param further - flags of the test. */
export async function launchBrowser(...further: readonly string[]): Promise<Browser> {
  return chromium.launch({ ...chromiumOptions, args: [...chromiumOptions.args, ...further] });
}

/** Everything that the browser reports as wrong: errors of scripts, and what the policy of the page refuses. */
export function collectProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  return problems;
}
