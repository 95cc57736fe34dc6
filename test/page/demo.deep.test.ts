import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../docs/markdown-snippets.ts";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { collectProblems, launchBrowser } from "./browser.ts";

/** Set to a number of seconds: takes the picture of the README after that time, in which the charts fill. */
const pictureAfter = process.env["UPDATE_PICTURE"];

const patience = { timeout: 60_000 };

describe.runIf(hasBrowser)(`npm start in a browser${whyNoBrowser}`, { timeout: 240_000 }, () => {
  let demo: ChildProcess;
  let browser: Browser;
  let page: Page;
  let problems: readonly string[];

  beforeAll(async () => {
    const args = ["--import", import.meta.resolve("tsx"), "examples/tracker/demo.ts"];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    demo = child;
    let link = "";
    for await (const line of createInterface({ input: child.stdout })) {
      link = /(http:\S+#token=\S+)/.exec(line)?.[1] ?? link;
      if (line.startsWith("The agents go on")) break;
    }
    child.stdout.resume();
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    problems = collectProblems(page);
    await page.goto(link);
  });
  afterAll(async () => {
    await browser.close();
    demo.kill("SIGKILL");
  });

  const sees = async (text: string | RegExp): Promise<boolean> => {
    await page.getByText(text).first().waitFor(patience);
    return true;
  };
  const show = (panel: string): Promise<void> => page.getByRole("tab", { name: panel }).click();

  it("removes the token from the address, and says that it is live", async () => {
    expect(await sees(/^Live$/)).toBe(true);
    expect(page.url()).not.toContain("token");
  });

  it("shows the agents, a running call and a question that waits", async () => {
    await show("Now");
    expect(await sees("nightly-script 1.0.0")).toBe(true);
    expect(await sees("issue_close")).toBe(true);
  });

  it("shows what agents reach, and the member that they do not", async () => {
    await show("Exposure");
    expect(await sees("issue_close")).toBe(true);
    expect(await sees("issue.delete")).toBe(true);
  });

  it("shows calls as they end", async () => {
    await show("History");
    expect(await sees("NOT_FOUND")).toBe(true);
    expect(await sees("bob")).toBe(true);
    if (pictureAfter === undefined) return;
    await page.waitForTimeout(Number(pictureAfter) * 1000);
    await page.screenshot({ path: `${root}/docs/live-page.png` });
  });

  it("shows the value that an agent watches", async () => {
    await show("Values");
    expect(await sees("surface://tracker/open")).toBe(true);
  });

  it("decides a confirmation of the agent that cannot ask, and the call runs", async () => {
    await show("Approvals");
    expect(await sees(/Close issue \d+, "Found by the nightly script"/)).toBe(true);
    await page.getByRole("button", { name: "Agree" }).click();
    await show("History");
    await page.getByPlaceholder("Tool").fill("issue_close");
    expect(await sees("nightly-script")).toBe(true);
  });

  it("says that the server has ended", async () => {
    demo.kill("SIGINT");
    expect(await once(demo, "exit")).toEqual([0, null]);
    await page.getByText("Live", { exact: true }).waitFor({ ...patience, state: "hidden" });
    expect(problems.filter((text) => !text.includes("Failed to load resource"))).toEqual([]);
  });
});
