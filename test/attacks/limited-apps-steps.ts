import type { User } from '../../server/users/index.ts';
import { openShop, type Shop, wordsOf } from '../billing/checkout/shop.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { toPlanId } from '../support/ids.ts';
import { type Begun, type RelyingParty, relyingParty } from '../support/relying-party.ts';

/** A shop with a client app that only members with the Growth plan may use. */
export function setUpLimitedApp() {
  let shop: Shop;
  /** A client app for the plans 12 and 13 (Growth, monthly and annual). */
  let limited: RelyingParty;
  const logback = 'http://127.0.0.1:9/academy/start';
  beforeAll(async () => {
    shop = await openShop();
    const { foyer } = shop;
    const scopes = ['openid', 'email', 'account'];
    const academy = {
      id: 'academy',
      name: 'Academy',
      scopes,
      logbackUri: logback,
      responseTypes: ['code', 'id_token'],
    };
    limited = await relyingParty(
      foyer,
      await foyer.addClient({ ...academy, requiredPlans: ['12', '13'] }),
      scopes.join(' '),
    );
  });
  afterAll(() => shop?.close());

  /** Writes what the membership module writes when a plan changes. */
  const has = (user: User, planId: string | null, trialUntil: number | null = null) =>
    shop.foyer.deps.database.db
      .updateTable('users')
      .set({ planId: planId === null ? null : toPlanId(planId), trialUntil: trialUntil })
      .where('id', '=', user.id)
      .execute();
  const member = (planId: string | null) => shop.foyer.addUser({ planId: planId === null ? null : toPlanId(planId) });
  const lead = async (browser: Browser, { url }: Pick<Begun, 'url'>) =>
    new URL(locationOf(await browser.get(url, { from: 'cross-site' })));
  const on = async (browser: Browser, url: URL | string) => new URL(locationOf(await browser.get(String(url))));

  /** Follows the redirects of a request to the first page. */
  async function pageOf(
    browser: Browser,
    begun: Pick<Begun, 'url'>,
  ): Promise<{ at: URL; words: string; html: string }> {
    let at = await lead(browser, begun);
    for (let hops = 0; hops < 6; hops += 1) {
      expect(at.origin).toBe(shop.foyer.url);
      const answer = await browser.get(at.href);
      if (answer.status !== 303) {
        const html = await answer.text();
        return { at, html, words: wordsOf(html) };
      }
      at = new URL(locationOf(answer));
    }
    throw new Error(`no page: ${at}`);
  }

  return {
    get shop() {
      return shop;
    },
    get limited() {
      return limited;
    },
    logback,
    has,
    member,
    lead,
    on,
    pageOf,
  };
}
