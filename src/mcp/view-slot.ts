import { authorise } from "../call/authorise.ts";
import type { Caller } from "../surface/caller.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ToolEntry } from "../catalog/entry.ts";
import type { LiveCatalog } from "../catalog/live-catalog.ts";
import { narrowCatalog } from "../catalog/narrow-catalog.ts";
import { replaceTools } from "../catalog/replace-tools.ts";
import { createGatewayTools } from "../gateway/create-gateway-tools.ts";
import type { Decision } from "../views/decision.ts";
import { toReadingTools } from "../gateway/to-reading-tools.ts";
import { show } from "../views/show.ts";
import type { SurfaceVerdict } from "../views/view-rules.ts";
import { ViewFace } from "./view-face.ts";

/** A decision by which somebody gets in. */
export interface Admitting extends Decision {
  readonly verdict: SurfaceVerdict;
}

/** What every face of an app is made with. */
export interface SlotSetting {
  readonly live: LiveCatalog;
  /** What the model is told, whatever the view. */
  readonly instructions: string | undefined;
  /** Has those of a catalog's tools that tell of others tell of what is in `told`. Default: of what is in the catalog itself. */
  readonly dress: (catalog: Catalog, told?: Catalog) => Catalog;
}

const listKeys = ["tools", "resources", "templates", "prompts"] as const;

function isSame(one: Catalog, other: Catalog | undefined): boolean {
  return listKeys.every((key) => {
    const [left, right] = [one[key], other?.[key]];
    return left === right || (left.length === right?.length && left.every((entry, index) => entry === right[index]));
  });
}

function join(instructions: string | undefined, more: string | undefined): string | undefined {
  return instructions === undefined || more === undefined ? (instructions ?? more) : `${instructions}\n\n${more}`;
}

/** What is open to everybody whom `read_resource` is open to: what a gateway tells may be told to all of them. */
function toOpen(catalog: Catalog): Catalog {
  const isOpen = ({ requires }: Pick<ToolEntry, "requires">): boolean => requires === undefined;
  return narrowCatalog(catalog, { tool: () => true, prompt: () => true, resource: isOpen });
}

const keepNone = { tool: () => false, prompt: () => false, resource: () => false };

/** What one decision shows, made again when there is something else to show. */
export class ViewSlot {
  readonly #setting: SlotSetting;
  /** A slot serves exactly one verdict, so it identifies the rules. */
  readonly #rules = Symbol("rules");
  readonly #behind: (caller: Caller) => Catalog | undefined;
  #decision: Admitting;
  /** Of which catalog the rest was made. */
  #from: Catalog | undefined;
  #direct: Catalog | undefined;
  #gateway: readonly ToolEntry[] | undefined;
  #face: ViewFace | undefined;

  /** @param behind - what a caller can call by their view now; `undefined`: they do not get in. */
  constructor(setting: SlotSetting, decision: Admitting, behind: (caller: Caller) => Catalog | undefined) {
    this.#setting = setting;
    this.#decision = decision;
    this.#behind = behind;
  }

  /** As of now; the same object for as long as it shows the same. */
  get face(): ViewFace {
    const direct = this.#refresh();
    this.#face ??= this.#toFace(direct);
    return this.#face;
  }

  /** The rules are others, and have a verdict that says the same. */
  adopt(decision: Admitting): void {
    this.#decision = decision;
    this.#from = undefined;
  }

  #refresh(): Catalog {
    const { live, dress } = this.#setting;
    const whole = live.current;
    if (whole === this.#from && this.#direct !== undefined) return this.#direct;
    this.#from = whole;
    const shown = show(whole, this.#decision).catalog;
    const direct = dress(shown, this.#isGateway ? toOpen(shown) : shown);
    if (this.#direct !== undefined && isSame(direct, this.#direct)) return this.#direct;
    const before = this.#direct;
    this.#direct = direct;
    if (!this.#isStillShown(direct, before)) this.#face = undefined;
    return direct;
  }

  get #isGateway(): boolean {
    return this.#decision.verdict.face === "gateway";
  }

  /** Whether a gateway looks as it did, whatever is behind it. */
  #isStillShown(direct: Catalog, before: Catalog | undefined): boolean {
    if (this.#gateway === undefined || before === undefined) return false;
    return isSame({ ...direct, tools: [] }, { ...before, tools: [] });
  }

  /** What is behind the gateway. A call that runs outlives the rules by which it was begun: its caller may be shown less by now. */
  #catalogOf(caller: Caller | undefined): Catalog {
    if (caller === undefined) return this.#refresh();
    return this.#behind(caller) ?? narrowCatalog(this.#refresh(), keepNone);
  }

  #toFace(direct: Catalog): ViewFace {
    const { dress, instructions } = this.#setting;
    const gateway = this.#isGateway ? this.#toGateway() : undefined;
    return new ViewFace({
      rules: this.#rules,
      catalog: gateway === undefined ? direct : replaceTools(direct, gateway),
      reading: gateway && replaceTools(direct, toReadingTools(gateway)),
      instructions: join(instructions, this.#decision.verdict.instructions),
      dress,
      behind: () => this.#refresh(),
    });
  }

  #toGateway(): readonly ToolEntry[] {
    this.#gateway ??= createGatewayTools({
      catalog: (caller) => this.#catalogOf(caller),
      isGranted: (entry, caller) => authorise(caller, entry) === undefined,
      isReadOnly: this.#decision.verdict.readOnly === true,
    });
    return this.#gateway;
  }
}
