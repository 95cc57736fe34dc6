import type { Answer } from "../target.ts";
import type { Attack, Finding, Scenario } from "../scenario.ts";
import { inParallel } from "../target.ts";
import { tenants } from "../targets.ts";

/** A question that a caller was asked. */
interface Question {
  readonly token: string;
  readonly state: string;
  readonly key: string;
}

const asking = {
  _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } } },
};

async function open({ target }: Attack, token: string): Promise<Question> {
  const { text } = await target.ask("tools/call", { name: "erase", arguments: {}, ...asking }, { token });
  const { result } = JSON.parse(text);
  const [key] = Object.keys(result?.inputRequests ?? {});
  if (key === undefined) throw new Error(`Cannot ask for consent: ${text.slice(0, 200)}`);
  return { token, state: String(result.requestState), key };
}

/** Accepts a question. */
function accept({ target }: Attack, by: Question, more: object = {}): Promise<Answer> {
  const inputResponses = { [by.key]: { action: "accept", content: {} } };
  const params = { name: "erase", arguments: {}, requestState: by.state, inputResponses, ...asking, ...more };
  return target.ask("tools/call", params, { token: by.token });
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".split("");

/** Changes one character of a text. */
function bend(text: string, { random }: Attack): string {
  const at = random.below(text.length);
  const other = random.pick(letters.filter((each) => each !== text[at]));
  return text.slice(0, at) + other + text.slice(at + 1);
}

async function run(attack: Attack): Promise<Finding> {
  const { target, random, runs } = attack;
  const breaks: string[] = [];
  const questions = await Promise.all(tenants.map(({ token }) => open(attack, token)));
  const erased = async (): Promise<number> => (await target.report())?.erased ?? -1;
  await inParallel(runs, async (index) => {
    const question = random.pick(questions);
    const others = tenants.filter(({ token }) => token !== question.token);
    // The last bits of base64 may stand for nothing: a changed character can spell the same bytes.
    const bent = { ...question, state: bend(question.state.slice(0, -2), attack) + question.state.slice(-2) };
    const ways = [
      () => accept(attack, { ...question, token: random.pick(others).token }),
      () => accept(attack, bent),
      () => accept(attack, question, { arguments: { all: random.text(4) } }),
      () => accept(attack, { ...question, state: question.state.slice(0, random.below(question.state.length)) }),
      () => accept(attack, { ...question, state: random.pick(questions).state + question.state }),
    ];
    await ways[index % ways.length]?.();
  });
  const stolen = await erased();
  if (stolen > 0)
    breaks.push(`${stolen} calls ran with the consent of another caller, for other arguments or with a forged state`);
  // What was tried must not have used up the limits of honest callers for good; each consent is good once.
  for (const question of questions) await Promise.all(Array.from({ length: 20 }, () => accept(attack, question)));
  const total = (await erased()) - stolen;
  if (total > questions.length) breaks.push(`${questions.length} consents ran ${total} calls`);
  return {
    tried: `${runs} stolen, bent and cut states; ${questions.length} consents, 20 times each, ran ${total}`,
    breaks,
  };
}

/** A consent runs one call, of the caller who gave it, with the arguments it was given for. */
export const consentReplay: Scenario = { name: "consent replay", run };
