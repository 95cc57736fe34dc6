/** The second door for agents: the server of a partner, who has nothing of the shop but its OpenAPI document. */
import { defineSurface, mcp, Refusal } from "surface-mcp";
import { fromOpenApi, type OpenApiDocument } from "surface-mcp/from/openapi";
import { bearer, http, type HttpServing } from "surface-mcp/http";

/** A user of the partner, and the token that links them to the shop. */
export interface Account {
  readonly id: string;
  readonly token: string;
  readonly shopToken?: string;
}

export function createPartnerApp(document: OpenApiDocument, baseUrl: string, accounts: readonly Account[]) {
  const shop = fromOpenApi(
    document,
    {
      listProducts: "resource",
      showOrder: "read",
      placeOrder: "write",
      cancelOrder: { write: { confirm: true } },
      // restockProduct is left out: no agent can reach it
    },
    {
      baseUrl,
      // The token of the partner's own user is never sent to the shop.
      credentials(_operation, caller) {
        const { shopToken } = accounts.find(({ id }) => id === caller.id) ?? {};
        if (shopToken === undefined) throw new Refusal("NOT_LINKED", "link your account at the shop first");
        return { authorization: `Bearer ${shopToken}` };
      },
    },
  );
  return mcp(defineSurface("partner", {})).implement({}).mount("shop", shop);
}

/** Downloads the shop's document and serves its operations to the partner's users. */
export async function startPartner(baseUrl: string, accounts: readonly Account[]): Promise<HttpServing> {
  const document: unknown = await (await fetch(`${baseUrl}/openapi.json`)).json();
  const resource = "http://localhost/mcp";
  const auth = bearer({
    resource,
    async verify(token) {
      const account = accounts.find((one) => one.token === token);
      return account && { id: account.id, scopes: ["partner:read", "partner:write"], resource };
    },
  });
  // `fromOpenApi()` checks the document.
  return createPartnerApp(document as OpenApiDocument, baseUrl, accounts).serve(http({ auth, exit: false }));
}
