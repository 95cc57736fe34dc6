import { checkInput, checkOutput, type OutputCheck } from "../check-value.ts";
import type { CallOptions } from "../client.ts";
import { maskFault } from "../fault.ts";
import type { MemberOfKind } from "../member.ts";
import { OwnedUse, type HandlerContext } from "./owned-use.ts";
import type { OwnerSetting } from "./owner.ts";

/** What a procedure is implemented by: a function, or a generator function that yields progress. */
export type ProcedureHandler = (input: unknown, context: HandlerContext) => unknown;

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown, undefined> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/** Owns a procedure's handler: the one place where it is run. */
export class ProcedureOwner {
  readonly kind = "procedure";
  readonly #member: MemberOfKind<"procedure">;
  readonly #handler: ProcedureHandler;
  readonly #setting: OwnerSetting;
  readonly #check: OutputCheck;

  constructor(member: MemberOfKind<"procedure">, handler: ProcedureHandler, setting: OwnerSetting) {
    this.#member = member;
    this.#handler = handler;
    this.#setting = setting;
    this.#check = { where: `procedure "${setting.key}"`, report: setting.report };
  }

  /**
   * Validates the input, runs the handler, validates the output.
   *
   * @throws SurfaceError `VALIDATION_ERROR`, `INVALID_OUTPUT` or `INTERNAL`; a `Refusal` of the handler as it is.
   */
  async call(input: unknown, use: CallOptions): Promise<unknown> {
    const { scope } = this.#setting;
    scope.assertOpen();
    const checked = checkInput(this.#member.input, input, this.#check.where);
    const valid = checked instanceof Promise ? await checked : checked;
    const owned = new OwnedUse(use, scope);
    const running = this.#run(valid, owned);
    const forget = scope.add(() => running.then(undefined, () => {}).then(() => {}));
    try {
      return await running;
    } finally {
      forget();
      owned.end();
    }
  }

  async #run(valid: unknown, owned: OwnedUse): Promise<unknown> {
    let output: unknown;
    try {
      const answer = this.#handler(valid, owned);
      output = isGenerator(answer) ? await this.#drain(answer, owned) : await answer;
    } catch (cause) {
      throw maskFault(cause, this.#check.where, this.#setting.report);
    }
    return checkOutput(this.#member.output, output, this.#check);
  }

  /** Reports what a generator yields as progress; what it returns is the output. */
  async #drain(generator: AsyncGenerator<unknown, unknown, undefined>, owned: OwnedUse): Promise<unknown> {
    for (;;) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      owned.progress(await checkOutput(this.#member.progress, step.value, this.#check));
    }
  }
}
