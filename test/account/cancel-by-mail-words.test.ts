import { wordsOf } from '../billing/checkout/shop.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/cancel-membership';
const linkPath = '/cancel-membership/link';

/** The facts of the mail in each language. */
const mails = {
  en: {
    request: 'Your request: Cancel the membership at the next possible date, usually the end of its paid period',
    received: 'Received on: ',
  },
  de: {
    request:
      'Ihr Anliegen: Kündigung der Mitgliedschaft zum nächstmöglichen Zeitpunkt, in der Regel zum Ende des bezahlten Zeitraums',
    received: 'Eingegangen am: ',
  },
  fr: {
    request:
      'Votre demande : Résiliation de l’abonnement à la prochaine date possible, en général à la fin de la période payée',
    received: 'Reçue le : ',
  },
  nl: {
    request:
      'Je verzoek: Opzegging van het lidmaatschap op de eerst mogelijke datum, meestal het einde van de betaalde periode',
    received: 'Ontvangen op: ',
  },
} as const;

/** The day, and the time to the second with its zone. */
function exactly(lang: keyof typeof mails, at: Date): string {
  const [, year, month, day, hour, rest] = /^(\d+)-(\d+)-(\d+)T(\d+)(:\d+:\d+)/.exec(at.toISOString()) ?? [];
  const name = at.toLocaleString(lang, { month: 'short', timeZone: 'UTC' });
  if (lang === 'de') return `${day}.${month}.${year}, ${hour}${rest} UTC`;
  if (lang !== 'en') return `${Number(day)} ${name} ${year}, ${hour}${rest} UTC`;
  const half = Number(hour) < 12 ? 'AM' : 'PM';
  return `${name} ${Number(day)}, ${year}, ${Number(hour) % 12 || 12}${rest} ${half} UTC`;
}

describe('the words of a cancellation without a sign-in', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
  });
  afterAll(() => shop?.close());

  async function requested(lang: keyof typeof mails) {
    const user = await shop.foyer.addUser({ locale: lang });
    await shop.foyer.browser().post(path, { email: user.email });
    const mail = (await shop.foyer.mails(user.email)).find(({ template }) => template === 'cancel-link');
    if (!mail) throw new Error('no mail was written');
    return { user, mail };
  }

  // Section 312k (2) BGB names the words of both.
  it('In German the footer’s link says “Verträge hier kündigen”, and the button of the mailed link “Jetzt kündigen”', async () => {
    const browser = shop.foyer.browser();
    await browser.post('/language', { lang: 'de', redirect: '/' });
    const footer = /<footer.*<\/footer>/s.exec(await (await browser.get('/')).text())?.[0];
    expect(footer).toContain(`<a href="${path}">Verträge hier kündigen</a>`);
    const user = await shop.foyer.addUser({ locale: 'de' });
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    await browser.post(path, { email: user.email });
    const [mail] = (await shop.foyer.mails(user.email)).filter(({ template }) => template === 'cancel-link');
    const link = /http\S+token=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
    const token = new URL(link).searchParams.get('token') ?? '';
    const html = await (await browser.get(`${linkPath}?${new URLSearchParams({ token })}`)).text();
    const buttons = /<main.*<\/main>/s.exec(html)?.[0].match(/<button[^>]*>.*?<\/button>/gs);
    expect(buttons).toEqual([expect.stringMatching(/^<[^>]*>Jetzt kündigen<\/button>$/)]);
    await browser.post(linkPath, { token });
    expect(await shop.membership.refresh(user.id)).toMatchObject({ cancelAtPeriodEnd: true });
  });

  // Section 312k (4) BGB: what was declared, and the day and the time at which it arrived.
  it.each(['en', 'de', 'fr', 'nl'] as const)(
    'The mail names what was asked, and the day and the time at which the request arrived (%s)',
    async (lang) => {
      const before = shop.foyer.deps.now();
      const { mail } = await requested(lang);
      const { atMs } = mail.values as { atMs: number };
      expect(atMs).toBeGreaterThanOrEqual(before);
      expect(atMs).toBeLessThanOrEqual(shop.foyer.deps.now());
      const { request, received } = mails[lang];
      for (const text of [mail.text, mail.html]) {
        const words = wordsOf(`<main>${text}</main>`).replaceAll(/\s/g, ' ');
        expect(words).toContain(request.split(/ ?: /)[1]);
        expect(words).toContain(exactly(lang, new Date(atMs)));
      }
      expect(mail.text.replaceAll(/\s/g, ' ')).toContain(request);
      expect(mail.text.replaceAll(/\s/g, ' ')).toContain(`${received}${exactly(lang, new Date(atMs))}`);
    },
  );

  it('The page says where to write to cancel for an important reason', async () => {
    const html = await (await shop.foyer.browser().get(path)).text();
    expect(wordsOf(html)).toContain('To cancel right away for an important reason, write to us and name it:');
    expect(html).toMatch(/name it:(?:<!-- -->)? (?:<!-- -->)?<a href="[^"]+">/);
  });
});
