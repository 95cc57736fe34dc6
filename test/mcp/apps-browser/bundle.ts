import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Bundles a script of this folder for a browser, to be written into HTML. */
export async function bundleScript(name: "host" | "page" | "sandbox"): Promise<string> {
  const input = fileURLToPath(new URL(`${name}.js`, import.meta.url));
  const bundle = await rolldown({ input, platform: "browser" });
  try {
    const { output } = await bundle.generate({ format: "es", minify: true, codeSplitting: false });
    // A script ends at its end tag, also within a text.
    return output[0].code.replaceAll("</script", String.raw`<\/script`);
  } finally {
    await bundle.close();
  }
}
