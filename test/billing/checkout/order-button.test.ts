import { languages } from '../../../server/http/index.ts';
import { openShop, type Shop } from './shop.ts';

/** The texts of all buttons of a page, in their order. */
const buttons = (html: string): string[] =>
  [...html.matchAll(/<button[^>]*>([^<]*)<\/button>/g)].map(([, text = '']) => text);

/** The button of the plan's own form. */
const planButton = (html: string): string | undefined =>
  buttons(/<form class="actions even".*?<\/form>/s.exec(html)?.[0] ?? '')[0];

const obligation = {
  en: /^Pay /,
  de: /^Zahlungspflichtig bestellen – /,
  fr: /^Commander avec obligation de paiement – /,
  nl: /^Bestellen met betalingsverplichting – /,
} as const;

const amounts = { en: '$99.00', de: '99,00 $', fr: '99,00 $', nl: '$ 99,00' } as const;

describe('buttons that oblige to pay', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');
  async function pageIn(lang: keyof typeof obligation, { card }: { card: boolean }, path: string): Promise<string> {
    const user = await shop.foyer.addUser({ locale: lang });
    if (card) await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    return plain(await (await browser.get(path)).text());
  }

  it.each(languages)('The button that charges a saved card names the obligation and the amount in %s', async (lang) => {
    const button = planButton(await pageIn(lang, { card: true }, '/plan-purchase/10'));
    expect(button).toMatch(obligation[lang]);
    expect(button).toContain(amounts[lang]);
  });

  it.each(languages)('The button of the card form that charges at once names both in %s, too', async (lang) => {
    const html = await pageIn(lang, { card: false }, '/plan-purchase/10/addPayment');
    const found = buttons(html).filter((text) => obligation[lang].test(text));
    expect(found).toEqual([expect.stringContaining(amounts[lang])]);
  });

  it.each(languages)('The page of a plan says beside the button how to cancel in %s', async (lang) => {
    const html = await pageIn(lang, { card: true }, '/plan-purchase/10');
    const how = {
      en: /Cancel any time on your membership page/,
      de: /kündigen/,
      fr: /résilier à tout moment/,
      nl: /opzeggen/,
    };
    expect(html).toMatch(how[lang]);
  });

  it('A lower plan is ordered with its amount and its date, although nothing is due today', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase/12', { planId: '12', dueCents: '49900', laterCents: '49900' });
    expect(await shop.planOf(user)).toBe('12');
    const button = planButton(await (await browser.get('/plan-purchase/10')).text());
    expect(button).toMatch(/^Pay \$99\.00 a month from \w+\s\d+,\s\d{4}$/);
  });

  it('A plan without a price and a page that only asks for a card have no such words', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    for (const path of ['/plan-purchase/1', '/plan-purchase/10']) {
      expect(buttons(await (await browser.get(path)).text()).join()).not.toMatch(/Pay /);
    }
  });
});
