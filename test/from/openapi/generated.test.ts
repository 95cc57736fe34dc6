import { register } from "node:module";
import { expect, it } from "vitest";
import { petstore } from "./petstore.ts";

interface Generator {
  readonly default: (document: string) => Promise<unknown>;
  readonly astToString: (ast: unknown) => string;
}

// The generator needs the API of TypeScript 5. TypeScript 7 compiles the repository, and could not compile the generator's types.
const name: string = "openapi-typescript";
const redirect = 'export const resolve = (name, at, next) => next(name === "typescript" ? "typescript-5" : name, at);';

it.each(["3.0.3", "3.1.0"] as const)(
  "the types in the type tests are those that openapi-typescript generates of the document of OpenAPI %s",
  async (version) => {
    register(`data:text/javascript,${encodeURIComponent(redirect)}`);
    // Its exports, as version 7 documents them.
    const { default: generate, astToString } = (await import(name)) as Generator;
    const types = astToString(await generate(JSON.stringify(petstore(version))));
    // Run with `--update` after a change of the document.
    await expect(types).toMatchFileSnapshot("../../../test-d/generated/petstore.ts");
  },
);
