import { languages } from '../../../server/http/index.ts';
import { plansWith } from '../../support/plans.ts';
import { anyBackend } from '../../support/stores.ts';
import { enter } from '../details-steps.ts';
import { manyCards, type Shop, startShop } from '../steps.ts';
import { mainForm, wordsOf } from './shop.ts';

/** Article 8 (2) of Directive 2011/83/EU: what consumers read directly before they order, and on a durable medium after it. */
const words = {
  en: {
    plan: 'Starter, monthly',
    total: 'Due today €117.81',
    tax: /VAT 19% €18\.81/,
    renews: /Renews on (?<day>\w+ \d+, \d{4}) at €117\.81/,
    cancel: /Cancel any time on your membership page/,
    mailCancel: /change or cancel it/i,
    amount: '€117.81',
    button: 'Pay €117.81',
  },
  de: {
    plan: 'Starter, monatlich',
    total: 'Heute fällig 117,81 €',
    tax: /19 % MwSt\. 18,81 €/,
    renews: /Verlängert sich am (?<day>\d+\. \S+ \d{4}) für 117,81 €/,
    cancel: /Sie können jederzeit .* kündigen/,
    mailCancel: /kündigen/,
    amount: '117,81 €',
    button: 'Zahlungspflichtig bestellen – 117,81 €',
  },
  fr: {
    plan: 'Starter, mensuelle',
    total: 'À payer aujourd’hui 117,81 €',
    tax: /TVA 19 % 18,81 €/,
    renews: /Renouvellement le (?<day>\d+ \S+ \d{4}) pour 117,81 €/,
    cancel: /Vous pouvez résilier à tout moment/,
    mailCancel: /résilier/,
    amount: '117,81 €',
    button: 'Commander avec obligation de paiement – 117,81 €',
  },
  nl: {
    plan: 'Starter, maandelijks',
    total: 'Vandaag te betalen € 117,81',
    tax: /19% btw € 18,81/,
    renews: /Wordt op (?<day>\d+ \S+ \d{4}) verlengd voor € 117,81/,
    cancel: /Je kunt op elk moment opzeggen/,
    mailCancel: /opzeggen/,
    amount: '€ 117,81',
    button: 'Bestellen met betalingsverplichting – € 117,81',
  },
} as const;

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe('the information for consumers', () => {
  let shop: Shop;
  beforeAll(async () => {
    const consumers = { withdrawalDays: 14 };
    const tax = { automatic: true, behaviour: 'exclusive' as const };
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ currency: 'eur', consumers, tax }) });
  });
  afterAll(() => shop?.close());

  it.each(languages)(
    'Page and receipt name plan, period, total, tax, renewal and how to cancel in %s',
    async (lang) => {
      const text = words[lang];
      const user = await shop.foyer.addUser({ locale: lang });
      await shop.saveCard(user);
      const browser = await shop.foyer.signedIn(user);
      await enter(browser, { country: 'DE', postal_code: '10115' });
      const html = plain(await (await browser.get('/plan-purchase/10')).text());
      const shown = plain(wordsOf(html));
      const [above, below] = shown.split(text.button);
      // All of it stands above the button, and nothing that matters below.
      expect(below).toBeDefined();
      for (const part of [text.plan, text.total]) expect(above).toContain(part);
      for (const part of [text.tax, text.renews, text.cancel]) expect(above).toMatch(part);
      const day = text.renews.exec(above ?? '')?.groups?.day ?? '';
      const { action, fields } = mainForm(html);
      expect((await browser.post(action, fields)).status).toBe(303);

      const receipt = (await shop.foyer.mails(user.email)).find(({ template }) => template === 'receipt');
      if (!receipt) throw new Error('there is no receipt');
      const mail = plain(receipt.text);
      for (const part of [text.plan, text.amount, day]) expect(mail).toContain(part);
      expect(mail).toMatch(/19\s?%/);
      expect(mail).toMatch(text.mailCancel);
    },
  );
});
