import { executeIn, type Action, type Service, type State } from "./agentic.ts";
import { createCat } from "./cat.ts";
import { Observable } from "./observable.ts";

/** The rooms, in the order in which one comes to them. */
const rooms = ["hall", "cave", "meadow"] as const;

interface World {
  readonly room: (typeof rooms)[number];
  readonly health: number;
  readonly potions: number;
  /** How much the goblin in the cave can still take. */
  readonly goblin: number;
}

const fullHealth = 10;

/** Whether the goblin stands in the way. */
function isFight({ room, goblin }: World): boolean {
  return room === "cave" && goblin > 0;
}

function statesOf({ room, health, potions, goblin }: World): Readonly<Record<string, State>> {
  const count = { type: "integer", minimum: 0 };
  const always = {
    room: { schema: { type: "string", enum: rooms }, value: room },
    health: { schema: count, value: health },
    potions: { schema: count, value: potions },
  };
  return room === "cave" ? { ...always, goblin: { schema: count, value: goblin } } : always;
}

function createMove(world: Observable<World>): Action {
  return {
    description: "Go on, or back",
    schema: {
      type: "object",
      properties: { direction: { type: "string", enum: ["on", "back"] } },
      required: ["direction"],
      additionalProperties: false,
    },
    execute: (input) => {
      const step = Reflect.get(Object(input), "direction") === "on" ? 1 : -1;
      const room = rooms[rooms.indexOf(world.value.room) + step];
      if (room === undefined) return "There is no way";
      if (step > 0 && isFight(world.value)) return "The goblin bars the way";
      world.value = { ...world.value, room };
      return undefined;
    },
  };
}

function createAttack(world: Observable<World>): Action {
  return {
    description: "Strike at the goblin; it strikes back",
    execute: () => {
      const { goblin, health } = world.value;
      world.value = { ...world.value, goblin: goblin - 1, health: Math.max(1, health - 2) };
      return { goblin: goblin - 1 };
    },
  };
}

function createDrink(world: Observable<World>): Action {
  return {
    description: "Drink a potion, which heals",
    execute: () => {
      world.value = { ...world.value, potions: world.value.potions - 1, health: fullHealth };
    },
  };
}

/** What can be done depends on where one is, and on what is left. */
function actionsOf(world: Observable<World>): Readonly<Record<string, Action>> {
  const { health, potions } = world.value;
  return {
    move: createMove(world),
    ...(isFight(world.value) ? { attack: createAttack(world) } : {}),
    ...(potions > 0 && health < fullHealth ? { drink: createDrink(world) } : {}),
  };
}

/** A game of three rooms: a goblin bars the second, and a cat lives in the third. */
export function createDungeon(): Service {
  const world = new Observable<World>({ room: "hall", health: fullHealth, potions: 1, goblin: 2 });
  const cat = createCat();
  return {
    serviceName: "dungeon",
    states: world.map(statesOf),
    actions: world.map(() => actionsOf(world)),
    execute: (action, input) => executeIn(actionsOf(world), action, input),
    links: world.map(({ room }): Readonly<Record<string, Service>> => (room === "meadow" ? { cat } : {})),
  };
}
