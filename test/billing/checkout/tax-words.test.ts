import type { User } from '../../../server/users/index.ts';
import type { Browser } from '../../support/browser.ts';
import { plansWith } from '../../support/plans.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

const tax = (behaviour: 'inclusive' | 'exclusive') =>
  plansWith({ currency: 'eur', tax: { automatic: true, behaviour } });

describe.each([
  ['exclusive', 'plus VAT', 'zzgl. MwSt.'],
  ['inclusive', 'incl. VAT', 'inkl. MwSt.'],
] as const)('a catalogue with tax that is %s', (behaviour, english, german) => {
  let shop: Shop;
  let user: User;
  let browser: Browser;
  beforeAll(async () => {
    shop = await openShop({ PLANS_FILE: tax(behaviour) });
    user = await shop.foyer.addUser();
    await shop.customerOf(user);
    browser = await shop.foyer.signedIn(user);
  });
  afterAll(() => shop?.close());
  const wordsAt = async (path: string, lang = 'en') =>
    wordsOf(await (await browser.get(path, { headers: { 'accept-language': lang } })).text());
  /** A member who has bought these plans, one after the other. */
  async function buyer(...codes: string[]): Promise<Browser> {
    const member = await shop.foyer.addUser();
    const { membership } = shop.foyer.app;
    await shop.saveCard(member);
    const { details } = await membership.findDetails(member.id);
    await membership.saveDetails(member, { ...details, country: 'DE', postalCode: '10115' });
    for (const code of codes) {
      const { plan } = await membership.choose(
        member,
        membership.catalogue.byCode(code) ?? membership.catalogue.defaultPlan,
      );
      const { dueCents } = await membership.quote(member, plan, null);
      const bought = await membership.confirm(member, { planId: plan.id, dueCents }, { ip: '127.0.0.1' });
      expect(bought.kind).toBe('paid');
    }
    return shop.foyer.signedIn(member);
  }

  it('Each price of a paid plan says beside its period how the tax belongs to it', async () => {
    const cards = await wordsAt('/plan-purchase?type=2');
    expect(cards).toContain(`€5,000 a year ${english}`);
    // The free one has neither a period nor a tax.
    const prices = cards.match(/a year/g) ?? [];
    expect(cards.match(new RegExp(english.replace('.', '\\.'), 'g'))).toHaveLength(prices.length);
    expect(await wordsAt('/plan-purchase?type=1', 'de')).toContain(`99 € im Monat ${german}`);
    expect(await wordsAt('/plan-purchase/13')).toContain(`€5,000 a year ${english}`);
  });

  it('The page of an app for other plans says it with each price', async () => {
    const app = await shop.foyer.addClient({ name: 'Academy', requiredPlans: ['13'] });
    expect(await wordsAt(`/not-in-plan?client_id=${app.id}`)).toContain(`€5,000 a year, ${english}`);
  });

  it('The membership page says it beside the price that the member pays', async () => {
    const member = await buyer('m-99');
    const shown = async (lang: string) =>
      wordsOf(await (await member.get('/settings/membership', { headers: { 'accept-language': lang } })).text());
    expect(await shown('en')).toContain(`Price €99 a month, ${english}`);
    expect(await shown('de')).toContain(`Preis 99 € im Monat, ${german}`);
    const { membership } = shop.foyer.app;
    const { data } = await shop.stripe.subscriptions.list({ limit: 1, status: 'active' });
    // Stripe charges no tax any more: it does not know the place.
    await shop.stripe.subscriptions.update(data[0]?.id ?? '', { automatic_tax: { enabled: false } });
    const row = await shop.foyer.deps.database.db
      .selectFrom('memberships')
      .select('userId')
      .where('subscriptionId', '=', data[0]?.id as never)
      .executeTakeFirstOrThrow();
    await membership.refresh(row.userId);
    expect(await shown('en')).not.toContain(`€99 a month, ${english}`);
  });

  it('An order whose credit is more than its price names no tax in what was paid', async () => {
    const member = await buyer('y-900', 'm-499');
    const words = wordsOf(await (await member.get('/settings/membership')).text());
    expect(words).toContain('€0.00');
    expect(words.match(/incl\. \S+ VAT/g)).toHaveLength(1);
    expect(words).not.toMatch(/incl\. [-−]/);
  });
});

it('Without tax in the catalogue no price says anything of it', async () => {
  const shop = await openShop();
  try {
    const browser = await shop.foyer.signedIn(await shop.foyer.addUser());
    expect(wordsOf(await (await browser.get('/plan-purchase?type=2')).text())).not.toContain('VAT');
  } finally {
    await shop.close();
  }
});
