import { cancelFields, decideFields, entryFields, historyFields, noFields } from "../../inspector/page-requests.ts";
import type { OptionFields } from "../../options/option.ts";
import type { Clock } from "../../spine/clock.ts";
import type { BodyRead, HttpAnswer, HttpReply, HttpRequest, HttpServe } from "../message.ts";
import { checkBodyHead, checkHost, checkSender, enterFields, readPageBody, readPageQuery } from "./page-request.ts";
import type { PageAccess } from "./page-access.ts";
import type { PageAddress } from "./page-address.ts";
import { noContent, noPage, pageHeaders, toJson, toErrorAnswer, type PageRefusal } from "./page-answers.ts";
import type { PageFiles } from "./page-files.ts";
import type { PageSource } from "./page-source.ts";
import { PageStreams } from "./page-streams.ts";

/** Dependencies of {@link PageRoutes}. */
export interface PageRoutesDeps {
  readonly inspector: PageSource;
  readonly address: PageAddress;
  readonly access: PageAccess;
  readonly files: PageFiles;
  /** Whether the page may decide confirmations. */
  readonly approve: boolean;
  readonly clock: Clock;
  /** Receives an error of the inspector. */
  readonly fail: (cause: unknown) => void;
}

const maxBodyBytes = 4096;

/** An answer, or the name of a refusal. */
type Answered = HttpAnswer | PageRefusal;

/** The answer of a route; nothing if the route answers by itself. */
type RouteAnswer = Answered | undefined | Promise<Answered>;

interface Route {
  readonly method: "GET" | "POST";
  readonly serve: (request: HttpRequest, reply: HttpReply) => RouteAnswer;
}

/** The routes of the page. None calls a tool, starts a process or opens a URL. Call {@link close} when done. */
export class PageRoutes {
  readonly #deps: PageRoutesDeps;
  readonly #streams: PageStreams;
  readonly #routes: ReadonlyMap<string, Route>;
  #isClosed = false;

  constructor(deps: PageRoutesDeps) {
    const { inspector, access, approve } = deps;
    this.#deps = deps;
    this.#streams = new PageStreams(deps);
    const routes: [string, Route][] = [
      ["enter", this.#post(enterFields, async ({ token }) => toEntered(access.enter(token)))],
      ["events", { method: "GET", serve: (_request, reply) => this.#stream(reply) }],
      ["history", get(historyFields, async (filters) => toJson(await inspector.history(filters)))],
      ["exposure", get(noFields, async () => toJson(await inspector.exposure()))],
      ["entry", get(entryFields, async ({ id, kind }) => toFound(await inspector.entry(id, kind)))],
      ["cancel", this.#post(cancelFields, async ({ call }) => toDone(await inspector.cancel(call)))],
    ];
    const decide = this.#post(decideFields, async ({ approval, ...decision }) =>
      toDone(await inspector.decide(approval, decision)),
    );
    if (approve) routes.push(["decide", decide]);
    this.#routes = new Map(routes);
  }

  /** Serves one request, of whose body nothing was read. */
  readonly serve: HttpServe = (request, reply) => {
    reply.extraHeaders = pageHeaders;
    const path = pathOf(request);
    const { base } = this.#deps.address;
    if (!path.startsWith(base)) return reply.answer(noPage);
    const name = path.slice(base.length);
    void this.#answer(reply, () => this.#check(request, name) ?? this.#route(name, request, reply));
  };

  /** Ends every stream, and refuses further requests. Callable twice. */
  close(): void {
    this.#isClosed = true;
    this.#streams.close();
  }

  /** Never rejects. */
  async #answer(reply: HttpReply, run: () => RouteAnswer): Promise<void> {
    const { inspector, fail } = this.#deps;
    try {
      const answered = await run();
      if (answered !== undefined) reply.answer(typeof answered === "string" ? toErrorAnswer(answered) : answered);
    } catch (cause) {
      if (inspector.isAway === true) return reply.answer(toErrorAnswer("away"));
      fail(cause);
      reply.answer(toErrorAnswer("internal"));
    }
  }

  /** Checks everything that does not depend on the route. @param name - the path under the base. */
  #check(request: HttpRequest, name: string): PageRefusal | undefined {
    const { address } = this.#deps;
    const refusal = checkHost(request, address) ?? checkSender(request, address, name === "");
    return refusal ?? (this.#isClosed ? "closing" : undefined);
  }

  #route(name: string, request: HttpRequest, reply: HttpReply): RouteAnswer {
    const file = this.#deps.files.get(name);
    if (file !== undefined) return request.method === "GET" ? file : "getOnly";
    const refusal = name === "enter" ? undefined : this.#checkPage(request);
    if (refusal !== undefined) return refusal;
    const route = this.#routes.get(name);
    if (route === undefined) return "notFound";
    if (route.method !== request.method) return route.method === "GET" ? "getOnly" : "postOnly";
    return route.serve(request, reply);
  }

  #checkPage(request: HttpRequest): PageRefusal | undefined {
    const { access, inspector } = this.#deps;
    if (!access.has(request.header("cookie"))) return "noCookie";
    return inspector.isAway === true ? "away" : undefined;
  }

  #stream(reply: HttpReply): Answered | undefined {
    return this.#streams.open(reply) ? undefined : "tooManyStreams";
  }

  #post<TBody>(fields: OptionFields<TBody>, answer: (body: TBody) => Promise<Answered>): Route {
    const read = (body: BodyRead): RouteAnswer => {
      if (body === "too-large") return "tooLarge";
      if (typeof body === "string") return "bodyLate";
      const found = readPageBody(body, fields);
      return found === undefined ? "badBody" : answer(found);
    };
    const serve = (request: HttpRequest, reply: HttpReply): PageRefusal | undefined => {
      const refusal = checkBodyHead(request);
      if (refusal === undefined) request.body(maxBodyBytes, (body) => void this.#answer(reply, () => read(body)));
      return refusal;
    };
    return { method: "POST", serve };
  }
}

/** Returns the path of a request, exactly as it was sent. */
function pathOf({ target }: HttpRequest): string {
  return target.slice(0, `${target}?`.indexOf("?"));
}

function get<TQuery>(fields: OptionFields<TQuery>, answer: (query: TQuery) => Promise<Answered>): Route {
  return {
    method: "GET",
    serve: ({ target }) => {
      const found = readPageQuery(target.slice(`${target}?`.indexOf("?") + 1), fields);
      return found === undefined ? "badQuery" : answer(found);
    },
  };
}

function toFound(value: unknown): Answered {
  return value === undefined ? "notFound" : toJson(value);
}

function toDone(isDone: boolean): Answered {
  return isDone ? noContent : "notFound";
}

function toEntered(entered: ReturnType<PageAccess["enter"]>): Answered {
  if (entered === "wrong") return "wrongToken";
  if (entered === "too-many") return "tooManyTries";
  return { status: 204, headers: { "set-cookie": entered.cookie } };
}
