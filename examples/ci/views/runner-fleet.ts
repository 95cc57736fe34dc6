import { operationRegistry, Refusal, type MountContext, type OperationRegistry } from "surface-mcp";
import { z } from "zod";

const Runner = z.object({ runner: z.string(), state: z.enum(["idle", "draining"]), jobs: z.number().int() });
const RUNNERS = 100;

type RunnerState = z.infer<typeof Runner>;

/** One machine that nodes could run on. There is none: what is shown here is who may reach it. */
class SimulatedRunner {
  readonly #name: string;
  #state: RunnerState["state"] = "idle";
  #jobs = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get state(): RunnerState {
    return { runner: this.#name, state: this.#state, jobs: this.#jobs };
  }

  drain(): RunnerState {
    if (this.#state === "draining") throw new Refusal("ALREADY_DRAINING", `${this.#name} takes no jobs already`);
    this.#state = "draining";
    return this.state;
  }

  resume(): RunnerState {
    this.#state = "idle";
    return this.state;
  }

  assign(jobs: number): RunnerState {
    this.#jobs += jobs;
    return this.state;
  }

  /** A call within a call: by its own reach, and for the caller who asked. */
  async restart({ call }: MountContext): Promise<RunnerState> {
    const prefix = `runners.${this.#name}`;
    await call(`${prefix}.drain`);
    return Runner.parse(await call(`${prefix}.resume`));
  }
}

function register(registry: OperationRegistry, name: string): void {
  const runner = new SimulatedRunner(name);
  const common = { outputSchema: Runner, tags: ["runner"] };
  registry.register(
    { ...common, name: `${name}.status`, type: "query", description: `What runner ${name} does` },
    () => runner.state,
  );
  registry.register(
    {
      ...common,
      name: `${name}.assign`,
      description: `Give runner ${name} more jobs`,
      inputSchema: z.object({ jobs: z.number().int().min(1).max(50) }),
    },
    ({ jobs }) => runner.assign(jobs),
  );
  registry.register({ ...common, name: `${name}.drain`, description: `Let runner ${name} take no new jobs` }, () =>
    runner.drain(),
  );
  registry.register({ ...common, name: `${name}.resume`, description: `Let runner ${name} take jobs again` }, () =>
    runner.resume(),
  );
  registry.register(
    {
      ...common,
      name: `${name}.restart`,
      description: `Drain runner ${name}, and let it take jobs again`,
      canCall: [`runners.${name}.*`],
    },
    (_input, context) => runner.restart(context),
  );
}

/** Makes a fleet of 100 runners with five operations each, known only at run time. */
export function createRunnerFleet(): OperationRegistry {
  const registry = operationRegistry();
  for (let number = 1; number <= RUNNERS; number += 1) register(registry, `linux_${String(number).padStart(3, "0")}`);
  return registry;
}
