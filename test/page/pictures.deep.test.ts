import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../architecture/source.ts";
import { hasBrowser, whyNoBrowser } from "../fixtures/chromium.ts";
import { launchBrowser } from "./browser.ts";
import { comparePictures, toReference } from "./compare-pictures.ts";
import { MockServer } from "./mock-server.ts";

/** Set to 1: writes the references again. Look at them before you commit them. */
const isUpdating = process.env["UPDATE_PICTURE"] === "1";

/** Pictures differ by their font, so all are taken in one that most machines have. */
const hasFont = existsSync("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf");
const style = '*, ::before, ::after { font-family: "DejaVu Sans" !important; transition: none !important }';

/** The part of the pixels that may differ. Versions of the browser and of the font draw letters differently; a moved panel differs by 3 %. */
const tolerance = 0.01;

const scratch = join(root, ".scratch", "page");
const why = hasFont ? whyNoBrowser : " (skipped: the font is not installed; apt-get install fonts-dejavu-core)";

describe.runIf(hasBrowser && hasFont)(`pictures of the live page${why}`, () => {
  const server = new MockServer();
  let browser: Browser;
  let url: string;
  let blank: Page;

  beforeAll(async () => {
    [browser, url] = await Promise.all([launchBrowser(), server.listen()]);
    blank = await browser.newPage();
    mkdirSync(scratch, { recursive: true });
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  const take = async (panel: string, colorScheme: "light" | "dark", width: number): Promise<Buffer> => {
    const context = await browser.newContext({
      ...{ colorScheme, viewport: { width, height: width > 1000 ? 560 : 720 }, bypassCSP: true },
      ...{ locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce" },
    });
    const page = await context.newPage();
    // The time of the page stands still.
    await page.addInitScript(() => {
      performance.now = () => 5000;
    });
    await page.goto(`${url}#token=${server.token}`);
    await page.addStyleTag({ content: style });
    await page.getByRole("heading", { name: "Running calls" }).waitFor();
    await page.locator(`#tab-${panel}`).click();
    await page
      .locator(panel === "now" || panel === "approvals" ? `#tab-${panel}[aria-selected="true"]` : ".open-row")
      .first()
      .waitFor();
    await page.mouse.move(0, 0);
    const screenshot = await page.screenshot({ animations: "disabled", caret: "hide" });
    await context.close();
    return screenshot;
  };
  const referenceOf = (name: string): string => join(root, "test", "fixtures", "page", `${name}.png`);

  it.each([
    ["history", "light", 1280],
    ["now", "dark", 1280],
    ["exposure", "light", 400],
    ["approvals", "dark", 400],
  ] as const)("show %s in the %s theme, %i px wide", async (panel, colorScheme, width) => {
    const name = `${panel}-${colorScheme}-${width}`;
    const screenshot = await take(panel, colorScheme, width);
    if (isUpdating) writeFileSync(referenceOf(name), await toReference(blank, screenshot));
    const reference = readFileSync(referenceOf(name));
    const { part, picture } = await comparePictures(blank, { screenshot, reference });
    const differs = join(scratch, `${name}-differs.png`);
    if (part > tolerance) {
      writeFileSync(differs, picture);
      writeFileSync(join(scratch, `${name}.png`), screenshot);
    }
    const update = "UPDATE_PICTURE=1 npx vitest run --project=deep test/page/pictures.deep.test.ts";
    const percent = `${(part * 100).toFixed(1)} % of the pixels of ${name}.png`;
    expect(
      part,
      `${percent} differ: look at ${differs}; if this is right, renew the pictures: ${update}`,
    ).toBeLessThanOrEqual(tolerance);
    expect(reference.length).toBeLessThan(40_000);
  });
});
