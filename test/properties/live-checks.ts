import { wireOf, type LiveOracle } from "./live-oracle.ts";
import type { RequestKind } from "./live-script.ts";

/** The mark of a caller in the text of a handler. */
const marker = /for:-?\d+;/g;

/** A response, and the name or query that its request held. */
interface Said {
  readonly said: string;
  readonly text: string;
}

/** Finds each name in a response that its caller cannot reach and did not send, and each text made for another caller. */
export function faultsOfText(
  oracle: LiveOracle,
  { said, text, mine }: Said & { readonly mine: string },
): readonly string[] {
  const rest = said === "" ? text : text.replaceAll(said, "NAME");
  const names = oracle.forbidden.filter((name) => rest.includes(name));
  const others = [...text.matchAll(marker)].map(([found]) => found).filter((found) => found !== mine);
  return [
    ...(names.length === 0 ? [] : [`the response names ${names.join()}`]),
    ...(others.length === 0 ? [] : [`the response to ${mine} holds a text ${others[0]}`]),
  ];
}

/** Finds each name that a list lacks. Names that it must not hold are found in every response, by {@link faultsOfText}. */
export function faultsOfList(
  oracle: LiveOracle,
  { kind, said, text }: Said & { readonly kind: RequestKind },
): readonly string[] {
  const isOfGateway = kind === "gateway list" || (kind === "gateway search" && said === "");
  const isCut = text.includes("_parts/");
  const expected = isOfGateway && !isCut ? oracle.behindGateway : oracle.listedBy(kind);
  const missing = expected.filter((id) => !text.includes(isOfGateway ? id : wireOf(id)));
  return missing.length === 0 ? [] : [`the list lacks ${missing.join()}`];
}
