import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { collectProblems, launchBrowser } from "./browser.ts";
import { MockServer } from "./mock-server.ts";
import { sampleApp, sampleCall, sampleRow, sampleSnapshot, sampleTime } from "./samples.ts";

describe.runIf(hasBrowser)(`the live page${whyNoBrowser}`, () => {
  let browser: Browser;
  let server: MockServer;
  let page: Page;
  let url: string;
  let problems: string[];

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    server = new MockServer();
    url = await server.listen();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    problems = collectProblems(page);
  });
  afterEach(async () => {
    await page.close();
    await server.close();
  });

  const enter = async (): Promise<void> => {
    await page.goto(`${url}#token=${server.token}`);
    await page.getByRole("heading", { name: "Running calls" }).waitFor();
  };
  const openPanel = (name: string) => page.getByRole("tab", { name }).click();

  it("exchanges the token for a cookie, and takes it out of the address, when it is opened by the link", async () => {
    await enter();
    expect(server.posted).toEqual([{ route: "enter", body: { token: server.token } }]);
    expect(page.url()).toBe(`${url}#now`);
    expect(await page.title()).toBe("(2) tracker");
    expect(problems).toEqual([]);
  });

  it("tells what to do when it has no access", async () => {
    await page.goto(url);
    await page.getByRole("heading", { name: "No access" }).waitFor();
    expect(await page.getByText("A link works once: restart the server").isVisible()).toBe(true);
    expect(server.streams).toBe(0);
  });

  it("enters when the link is opened in its own tab", async () => {
    await page.goto(url);
    await page.getByRole("heading", { name: "No access" }).waitFor();
    await enter();
    expect(server.streams).toBe(1);
  });

  it("goes on after a dropped stream, and says so when the server has restarted", async () => {
    await enter();
    server.snapshot = sampleSnapshot({ calls: { rows: [], more: 0 } });
    server.drop();
    await page.getByText("No call runs.").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    server.cookie = "surface-inspect=another";
    server.drop();
    await page.getByText("The server has restarted; open the link it printed.").waitFor();
    expect(await page.getByText("No call runs.").isVisible()).toBe(true);
  });

  it("says that the server has restarted when it is at another path since", async () => {
    await enter();
    server.isMoved = true;
    server.drop();
    await page.getByText("The server has restarted; open the link it printed.").waitFor();
    expect(await page.getByText("Ended", { exact: true }).isVisible()).toBe(true);
  });

  it("starts again when another start of the server answers", async () => {
    await enter();
    const app = { ...sampleApp, instance: "i2", approve: false };
    server.send("snapshot", sampleSnapshot({ app, history: [sampleRow(1)] }));
    await expect.poll(() => page.getByRole("tab", { name: "Approvals" }).count()).toBe(0);
    await openPanel("History");
    await expect.poll(() => page.locator(".open-row").count()).toBe(1);
  });

  it("says that what it shows may be old while the server does not answer", async () => {
    await enter();
    await server.close();
    await page.getByRole("alert").getByText("The server does not answer; what you see may be old.").waitFor();
    expect(await page.getByRole("heading", { name: "Running calls" }).isVisible()).toBe(true);
  });

  it("shows no time of a call that is over, and which call waits for an approval", async () => {
    const over = sampleCall(1, { tool: "late", deadline: sampleTime - 9000 });
    const waits = sampleCall(2, { tool: "user_invite", caller: "bot-7", deadline: sampleTime - 9000 });
    server.snapshot = sampleSnapshot({ calls: { rows: [over, waits], more: 0 } });
    await enter();
    const card = page.getByRole("region", { name: "Running calls" });
    expect(await card.getByText("waits for an approval").count()).toBe(1);
    expect(await card.getByText(/ left$/).count()).toBe(0);
  });

  it("shows the code of the protocol, and no version that the author did not give", async () => {
    const app = { ...sampleApp, version: "0.0.0" };
    const row = sampleRow(1000, { outcome: "refused", stage: "scope", rpcCode: -32011 });
    server.snapshot = sampleSnapshot({ app, history: [row] });
    await enter();
    expect(await page.getByText("0.0.0").count()).toBe(0);
    await openPanel("History");
    await page.getByText("-32011").waitFor();
  });

  it("counts the calls of the last ten seconds, and none of those before", async () => {
    await page.addInitScript(() => {
      performance.now = () => 0;
    });
    const before = { at: sampleTime - 60_000, calls: 700, failed: 30, refused: 0, p99: 900 };
    server.snapshot = sampleSnapshot({ seconds: [before, { ...before, at: sampleTime - 2000, calls: 5, failed: 1 }] });
    await enter();
    const figures = await page.locator("dl > div").allTextContents();
    expect(figures).toContain("Calls, last 10 s5");
    expect(figures).toContain("Failed, last 10 s1");
  });

  it("cancels a call after it has asked once more", async () => {
    await enter();
    await page.getByRole("button", { name: "Cancel report_build" }).dblclick();
    expect(server.posted.filter(({ route }) => route === "cancel")).toEqual([]);
    await page.getByRole("button", { name: "Cancel call of report_build" }).click();
    await expect.poll(() => server.posted.at(-1)).toEqual({ route: "cancel", body: { call: "call-9" } });
  });

  it("shows why an action failed", async () => {
    await enter();
    server.status = 409;
    await openPanel("Approvals");
    await page.getByRole("button", { name: "Agree to user_invite" }).click();
    await page.getByRole("alert").getByText("The call has ended.").waitFor();
    expect(await page.getByRole("button", { name: "Agree to user_invite" }).isEnabled()).toBe(true);
  });

  it("takes no consent for an approval that has just moved under the cursor", async () => {
    await page.addInitScript(() => {
      let now = 0;
      performance.now = () => now;
      addEventListener("pass", () => {
        now += 1000;
      });
    });
    const pass = () => page.evaluate(() => dispatchEvent(new Event("pass")));
    await enter();
    await openPanel("Approvals");
    const invite = page.getByRole("button", { name: "Agree to user_invite" });
    expect(await invite.isDisabled()).toBe(true);
    await pass();
    await expect.poll(() => invite.isEnabled()).toBe(true);
    const { at, approvals } = server.snapshot;
    server.send("update", { at, approvals: approvals.slice(1) });
    await expect.poll(() => page.getByRole("button", { name: "Agree to board_delete" }).count()).toBe(0);
    expect(await invite.isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Decline user_invite" }).isEnabled()).toBe(true);
    await pass();
    await expect.poll(() => invite.isEnabled()).toBe(true);
    server.send("update", { at, approvals: [...approvals.slice(1), ...approvals.slice(0, 1)] });
    await page.getByRole("button", { name: "Agree to board_delete" }).waitFor();
    expect(await invite.isEnabled()).toBe(true);
  });

  it("shows the whole word that is to be typed, also when it is narrow", async () => {
    await page.setViewportSize({ width: 320, height: 800 });
    const [approval] = sampleSnapshot().approvals.map((one) => ({ ...one, word: "DELETE THE BOARD 7" }));
    server.snapshot = sampleSnapshot({ approvals: approval === undefined ? [] : [approval] });
    await enter();
    await openPanel("Approvals");
    const word = page.locator("label .clip");
    expect(await word.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  });

  it("agrees only with the word, and declines without", async () => {
    await enter();
    await openPanel("Approvals");
    const agree = page.getByRole("button", { name: "Agree to board_delete" });
    expect(await agree.isDisabled()).toBe(true);
    await page.getByLabel("To agree, type").fill("DELETE");
    await agree.click();
    await page.getByRole("button", { name: "Decline user_invite" }).click();
    await expect
      .poll(() => server.posted.slice(1).map(({ body }) => body))
      .toEqual([
        { approval: "a1", agree: true, word: "DELETE" },
        { approval: "a2", agree: false },
      ]);
  });

  it("shows an entry as an agent gets it, and the difference of two views", async () => {
    await enter();
    await openPanel("Exposure");
    await page.getByLabel("Filter members").fill("board delete");
    await page.getByRole("button", { name: "board_delete" }).click();
    await page.getByRole("dialog", { name: "board_delete" }).getByText('"inputSchema"').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.getByLabel("Filter members").fill("");
    await page.getByLabel("Compare view").selectOption("default");
    await page.getByLabel("with view").selectOption("support");
    await page.getByText("5 only in the first, 0 only in the second, 0 shown differently; -1,180 tokens").waitFor();
    expect(await page.locator(".open-row").count()).toBe(5);
  });

  it("shows in each row what a wide page has in columns when it is 400 px wide", async () => {
    await page.setViewportSize({ width: 400, height: 800 });
    await enter();
    expect(
      await page.locator(".mark").evaluate((icon) => icon instanceof HTMLImageElement && icon.naturalWidth > 0),
    ).toBe(true);
    const hiddenOf = (): Promise<string[]> =>
      page
        .locator(".head .cell")
        .evaluateAll((cells) =>
          cells.filter((cell) => cell.getBoundingClientRect().width === 0).map((cell) => cell.textContent),
        );
    await openPanel("Exposure");
    await page.locator(".open-row").first().waitFor();
    expect(await hiddenOf()).toEqual([]);
    await page.getByRole("button", { name: "Not exposed" }).click();
    const reason = page.getByText("not exposed: it has no tag").first();
    await reason.waitFor();
    expect((await reason.boundingBox())?.width).toBeGreaterThan(100);
    await openPanel("History");
    await page.locator(".open-row").first().waitFor();
    expect(await hiddenOf()).toEqual(["Client", "View", "In", "Out"]);
    const client = page.getByTitle("claude-code 3.1.0");
    expect(await client.count()).toBeGreaterThan(0);
    await page.locator(".open-row").first().click();
    await page.getByRole("dialog").getByText("claude-code 3.1.0").waitFor();
    expect(problems).toEqual([]);
  });

  it("pauses the history while new rows come, and loads rows that it does not have", async () => {
    server.answerHistory = () => ({ rows: [sampleRow(940), sampleRow(939)], before: 939 });
    server.snapshot = sampleSnapshot({ oldest: 939 });
    await enter();
    await openPanel("History");
    await page.getByRole("button", { name: "Pause" }).click();
    server.send("update", { at: sampleTime + 100, history: [sampleRow(1001), sampleRow(1005)] });
    await page.getByRole("button", { name: "Go on, 5 new" }).click();
    await page.getByText("3 rows not loaded. Open to load.").waitFor();
    server.answerHistory = () => ({ rows: [1004, 1003, 1002].map((seq) => sampleRow(seq)) });
    await page.getByText("3 rows not loaded. Open to load.").click();
    await expect.poll(() => page.getByText("rows not loaded").count()).toBe(0);
    expect(server.queries.at(-1)?.get("before")).toBe("1005");
  });

  it("is used by the keyboard alone", async () => {
    await enter();
    const press = async (key: string, name: string, value: string): Promise<void> => {
      await page.keyboard.press(key);
      const focused = () => page.evaluate((one) => document.activeElement?.getAttribute(one), name);
      await expect.poll(focused).toBe(value);
    };
    await page.getByRole("tab", { name: "Approvals" }).focus();
    await page.keyboard.press("Enter");
    await press("ArrowLeft", "id", "tab-now");
    await press("ArrowLeft", "id", "tab-values");
    await press("ArrowLeft", "id", "tab-history");
    await page.locator(".open-row").first().focus();
    await press("ArrowDown", "data-index", "1");
    await press("ArrowDown", "data-index", "2");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    expect(await dialog.getByText("call-998").count()).toBe(1);
    await press("Escape", "data-index", "2");
    await press("End", "data-index", "59");
    await press("Home", "data-index", "0");
  });

  it("shows running calls as a tree with progress, and nothing of the panels that are hidden", async () => {
    await enter();
    const card = page.getByRole("region", { name: "Running calls" });
    expect(await card.getByText("37 of 120").isVisible()).toBe(true);
    expect(await card.locator("ul ul").getByText("issue_search").isVisible()).toBe(true);
    server.send("update", { at: sampleTime, calls: { rows: [sampleCall(1, { tool: "only_one" })], more: 7 } });
    await card.getByText("and 7 more").waitFor();
    expect(await page.locator(".table").count()).toBe(0);
  });
});
