import type { Page } from "playwright-core";

/** A comparison of two pictures. */
export interface PictureDifference {
  /** The part of the pixels that differ, from 0 to 1. */
  readonly part: number;
  /** A picture of the differences, as PNG. */
  readonly picture: Buffer;
}

/** Draws pictures in the browser. Each is a PNG in base64. Half the size and 16 steps of each colour keep the files small. */
async function draw([first, second]: readonly string[]): Promise<{ part: number; base64: string }> {
  /** Differences of a colour that no person sees, of 255. */
  const steps = 17;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("no canvas");
  const read = async (base64: string, scale: number): Promise<ImageData> => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    for (const [at, value] of pixels.data.entries()) pixels.data[at] = Math.round(value / steps) * steps;
    return pixels;
  };
  const shown = await read(first ?? "", 0.5);
  let differing = 0;
  if (second !== undefined) {
    const { data } = await read(second, 1);
    const isSame = (at: number): boolean => Math.abs((shown.data[at] ?? 0) - (data[at] ?? 255)) <= 2 * steps;
    for (let at = 0; at < shown.data.length; at += 4) {
      if (isSame(at) && isSame(at + 1) && isSame(at + 2)) continue;
      differing += 1;
      shown.data.set([255, 0, 255], at);
    }
  }
  canvas.width = shown.width;
  canvas.height = shown.height;
  context.putImageData(shown, 0, 0);
  return {
    part: (differing * 4) / shown.data.length,
    base64: canvas.toDataURL().slice("data:image/png;base64,".length),
  };
}

/** Returns a screenshot as reference. @param blank - an empty page of the browser, which does the work. */
export async function toReference(blank: Page, screenshot: Buffer): Promise<Buffer> {
  const { base64 } = await blank.evaluate(draw, [screenshot.toString("base64")]);
  return Buffer.from(base64, "base64");
}

/** Compares a screenshot with a reference. A picture of another size differs in what is missing. */
export async function comparePictures(
  blank: Page,
  { screenshot, reference }: { readonly screenshot: Buffer; readonly reference: Buffer },
): Promise<PictureDifference> {
  const { part, base64 } = await blank.evaluate(draw, [screenshot.toString("base64"), reference.toString("base64")]);
  return { part, picture: Buffer.from(base64, "base64") };
}
