/** The descriptions that both servers show. */
export const words = {
  counter: "How often bump was called",
  echo: "Answers what it was given",
  big: "Answers ten kilobytes",
  bump: "Adds one to the counter",
} as const;

/** How a generated tool is called and described. */
export function generatedWords(index: number): { readonly name: string; readonly description: string } {
  return { name: `generated_${String(index).padStart(4, "0")}`, description: `Generated tool number ${index}` };
}
