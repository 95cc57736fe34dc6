/** Text of somebody else's, for a terminal: what would move the cursor or colour the line stands as "?". */
export function plainText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what is looked for
  return text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, "?");
}
