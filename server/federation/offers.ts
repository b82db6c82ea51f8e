import type { Request, Response } from 'express';
import { createFlowStore } from '../codes/index.ts';
import type { HostCookies } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import type { KeyValueStore, SecretBox } from '../store/index.ts';
import type { UpstreamIdentity } from './identity.ts';

/**
 * A link that is offered: who came by a provider has the confirmed address of a member. It is made once that member has
 * shown in this browser, later than this, that the account is theirs, and said yes.
 */
export interface Offer {
  userId: string;
  identity: UpstreamIdentity;
  /** The link that there is already, but whose subject may be another person's by now. Undefined: there is none yet. */
  linkId?: string | undefined;
  /** Where the visitor was going (`Errand.search`). */
  errand: string;
  remember?: boolean | undefined;
  offeredAtMs: number;
}

export interface Offers {
  begin(req: Request, res: Response, offer: Offer): Promise<void>;
  /** The browser's own. */
  of(req: Request): Promise<Offer | undefined>;
  /** Ends it. */
  end(req: Request, res: Response): Promise<void>;
}

const offerMs = 30 * 60_000;

export function createOffers({
  kv,
  box,
  cookies,
}: {
  kv: KeyValueStore;
  box: SecretBox;
  cookies: HostCookies;
}): Offers {
  const cookie = { name: 'foyer_link_offer', maxAgeMs: offerMs };
  const flows = createFlowStore<{ sealed: string }>(kv, cookies, { kind: 'link-offer', cookie, keptMs: offerMs });
  const aad = (id: string) => `link-offer:${sha256(id)}`;
  return {
    async begin(req, res, offer) {
      await flows.end(flows.idOf(req));
      const id = flows.newId();
      await flows.write(id, { sealed: box.seal(JSON.stringify(offer), aad(id)) });
      flows.giveTo(res, id);
    },
    async of(req) {
      const id = flows.idOf(req);
      const flow = await flows.find(id);
      return flow && (JSON.parse(box.open(flow.sealed, aad(id))) as Offer);
    },
    async end(req, res) {
      await flows.end(flows.idOf(req));
      flows.takeFrom(res);
    },
  };
}
