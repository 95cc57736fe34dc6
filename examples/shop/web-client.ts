/** The web client of one user. Yours is typed by `@trpc/client`, which sends the same requests. */
export class WebClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Runs a query, or with an input a mutation. @throws Error with the message of the router. */
  async call(path: string, input?: object): Promise<unknown> {
    const response = await fetch(`${this.#url}/trpc/${path}`, {
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(input && { method: "POST", body: JSON.stringify(input) }),
    });
    const { result, error } = (await response.json()) as { result: { data: unknown }; error?: { message: string } };
    if (error !== undefined) throw new Error(error.message);
    return result.data;
  }
}
