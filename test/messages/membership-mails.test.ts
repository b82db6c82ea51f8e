import { type Language, languages, texts } from '../../locales/index.ts';
import {
  type MailLook,
  type MailTemplate,
  type MailValues,
  renderMail,
  sampleMail,
} from '../../server/messages/index.ts';

const look: MailLook = { publicUrl: 'https://login.example.com', brandName: 'Foyer' };

/** The sample, with other values. `undefined` leaves one out. */
function mail<Name extends MailTemplate>(
  template: Name,
  lang: Language,
  over: Partial<Record<keyof MailValues[Name], unknown>> = {},
) {
  const sample = sampleMail(template, lang);
  const values = Object.fromEntries(
    Object.entries({ ...sample.values, ...over }).filter(([, value]) => value !== undefined),
  );
  return renderMail({ ...sample, values } as typeof sample, look);
}
/** The facts of a mail's plain text, by label. */
const factsOf = (text: string) =>
  Object.fromEntries([...text.matchAll(/^(.+?)\s?: (.+)$/gm)].map(([, label = '', value = '']) => [label, value]));

describe('the receipt', () => {
  it('The receipt has every variable of the specification, amounts with two decimals and dates in words', () => {
    const { text } = mail('receipt', 'en');
    expect(factsOf(text)).toMatchObject({
      Plan: 'Starter, annual',
      Price: '$900.00',
      Discount: '−$90.00',
      'Credit used': '−$12.50',
      'Amount charged': '$797.50',
      'Charged to': 'Visa\u00a0••••\u00a04242',
      'Order date': 'November 21, 2026',
      'Renews on': 'November 21, 2027',
      Invoice: 'FOYER-0007',
      'Billed to': 'Vera Adler, vera@example.com',
      'Postal code': '10117',
      Rewards: '5',
    });
    expect(text).toContain('\nhttps://login.example.com/settings/membership\n');
    expect(text).toContain('\nhttps://invoice.stripe.com/i/acct_1/live_7?s=ap\n');
  });

  it.each([
    ['de', '797,50\u00a0$', '21. November 2026'],
    ['fr', '797,50\u00a0$', '21 novembre 2026'],
    ['nl', '$\u00a0797,50', '21 november 2026'],
  ] as const)('The receipt in %s writes amounts and dates as that language does', (lang, amount, day) => {
    const { text } = mail('receipt', lang);
    expect(text).toContain(amount);
    expect(text).toContain(day);
  });

  it('The receipt leaves out what does not exist: a discount, credit, a card, an invoice, a renewal', () => {
    const { text, html } = mail('receipt', 'en', {
      discount: 0,
      creditUsed: 0,
      cardType: undefined,
      lastFour: undefined,
      zipcode: undefined,
      invoiceNumber: undefined,
      invoiceUrl: undefined,
      renewDate: undefined,
    });
    const facts = factsOf(text);
    expect(Object.keys(facts)).toEqual(expect.arrayContaining(['Plan', 'Price', 'Amount charged', 'Order date']));
    for (const label of ['Discount', 'Credit used', 'Charged to', 'Invoice', 'Renews on', 'Postal code'])
      expect(facts).not.toHaveProperty([label]);
    expect(text).not.toContain('renews by itself');
    expect(html).not.toContain('stripe.com');
  });

  it('The receipt shows a user’s name as text and never as markup', () => {
    const { html, text } = mail('receipt', 'en', { fullName: '<img src=x>\nBcc: eve' });
    expect(html).not.toContain('<img');
    expect(text).toContain('Billed to: <img src=x> Bcc: eve, vera@example.com');
  });
});

describe.each(languages)('membership mails in %s', (lang) => {
  const words = texts[lang].mail;

  it('The mail of a failed payment says when it is tried again, or that it is not', () => {
    const again = mail('payment-failed', lang).text;
    expect(again).toContain(words.paymentFailed.nextAttempt);
    expect(Object.keys(factsOf(again))).toContain(words.membership.nextTry);
    const last = mail('payment-failed', lang, { nextAttemptAt: undefined, keptUntil: undefined }).text;
    expect(last).toContain(words.paymentFailed.last);
    for (const label of [words.membership.nextTry, words.membership.keptUntil])
      expect(Object.keys(factsOf(last))).not.toContain(label);
  });

  it('The end of a trial is counted in the plural forms of the language', () => {
    expect(mail('trial-ends', lang, { days: 1 }).text).toMatch(/\b1 (?:day|Tag|jour|dag)\b/);
    expect(mail('trial-ends', lang, { days: 3 }).text).toMatch(/\b3 (?:days|Tagen|jours|dagen)\b/);
  });

  it('The mail of the end of a plan says why it ended and which plan the member has now', () => {
    const { cancelled, unpaid } = words.planEnded.lead;
    const wished = mail('plan-ended', lang, { why: 'cancelled', planNow: undefined }).text;
    expect(wished).toContain(cancelled);
    expect(Object.keys(factsOf(wished))).not.toContain(words.membership.nowOn);
    const lost = mail('plan-ended', lang).text;
    expect(lost).toContain(unpaid);
    expect(factsOf(lost)).toMatchObject({ [words.membership.nowOn]: 'Free' });
  });

  it('The mail of a plan change names both plans, the day and the price, and a plan without end has no period', () => {
    expect(factsOf(mail('plan-changes', lang).text)).toMatchObject({
      [words.membership.from]: 'Scale',
      [words.membership.to]: words.membership.monthly.replace('{{plan}}', 'Growth'),
    });
    const lifelong = mail('plan-changes', lang, { toPlanType: undefined }).text;
    expect(factsOf(lifelong)).toMatchObject({ [words.membership.to]: 'Growth' });
  });
});

it('A card of an unknown brand is shown by its digits', () => {
  expect(factsOf(mail('card-changed', 'en', { cardType: 'unknown' }).text)).toMatchObject({ Card: '••••\u00a04242' });
});

const aboutCards = ['payment-failed', 'card-changed', 'card-removed', 'refund-failed', 'payment-disputed'] as const;
const yourCard =
  /(?:your|this|the) card|(?:Ihrer?|dieser?|die|Eine) Karte|(?:votre|cette|la|une) carte|(?:je|deze|de|een) kaart|^(?:Card|Karte|Carte|Kaart)\s?:/im;

describe.each(languages)('the mails about payment methods in %s', (lang) => {
  it.each(['sepa_debit', 'ideal', 'bancontact', 'link'])('A mail about %s speaks of no card', (cardType) => {
    // Advice for the future may name a card.
    const future =
      /Haben Sie ein neues Konto[^.]*\.|If you have a new account[^.]*\.|Si vous avez un nouveau[^.]*\.|Heb je een nieuwe[^.]*\./g;
    for (const template of aboutCards) {
      const { subject, text } = mail(template, lang, { cardType, lastFour: cardType === 'link' ? '' : '3000' });
      expect([template, `${subject}\n${text.replaceAll(future, '')}`]).toEqual([
        template,
        expect.not.stringMatching(yourCard),
      ]);
      expect(mail(template, lang).text).toMatch(yourCard);
    }
  });

  it('A failed debit without another attempt speaks of the bank account, and a failed purchase of its end', () => {
    const over = { cardType: 'sepa_debit', lastFour: '3000', nextAttemptAt: undefined };
    expect(mail('payment-failed', lang, over).text).not.toMatch(yourCard);
    const ended = mail('payment-failed', lang, { ...over, ended: true }).text;
    expect(ended).toContain(texts[lang].mail.paymentFailed.debitLead);
  });
});

describe.each(languages)('the mails about a plan that ends on a month’s notice, in %s', (lang) => {
  it('The mail about the end names the refund and the credit, and says how to keep the plan', () => {
    const { html, text } = mail('plan-cancelled', lang, { refundCents: 67_377, creditCents: 1_200, currency: 'usd' });
    const { planEndsOnNotice: words, membership: labels } = texts[lang].mail;
    for (const part of [text, html]) expect(part).toContain(words.lead.slice(0, 30));
    expect(text).toContain(words.back);
    const facts = factsOf(text);
    expect(facts[labels.refundThen]).toMatch(/673[.,]77/);
    expect(facts[labels.creditThen]).toMatch(/12[.,]00/);
    expect(mail('plan-cancelled', lang).text).not.toContain(labels.refundThen);
  });

  it('The notice before the renewal says how the following year ends', () => {
    const { renewalNotice: words } = texts[lang].mail;
    expect(mail('renewal-notice', lang, { endsOnNotice: true }).text).toContain(words.noticeAdvice);
    expect(mail('renewal-notice', lang).text).toContain(words.cancelAdvice);
  });
});
