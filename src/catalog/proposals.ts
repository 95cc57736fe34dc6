/** What is longer is nobody's choice from a list, and is not proposed; in UTF-16 units. */
export const maxProposalLength = 1024;

/** How many are counted: what proposes of a long list stops after more, so that of more nobody says how many there are. */
export const maxCountedProposals = 1000;

/** Whether a text goes on with what was begun, in either case, and may be proposed. */
export function isProposal(text: string, begunLower: string): boolean {
  return text.length <= maxProposalLength && text.toLowerCase().startsWith(begunLower);
}
