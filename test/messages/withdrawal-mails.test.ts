import { languages, texts } from '../../locales/index.ts';
import { renderMail, sampleMail } from '../../server/messages/index.ts';
import { rawKeys } from '../views/raw-keys.ts';

const look = { publicUrl: 'https://login.example.com', brandName: 'Foyer' };
const atMs = Date.UTC(2026, 10, 28, 14, 2, 30);
const pageLink = 'https://login.example.com/settings/membership';
const withdrawn = {
  givenName: 'Vera',
  pageLink,
  planName: 'Starter',
  orderDate: atMs,
  atMs,
  amountCents: 5_610,
  currency: 'eur',
};

const said = {
  en: {
    kept: '€42.90 for 13 of 30 days',
    begins: 'Begins right away, at your request of: Nov 28, 2026, 2:02:30 PM UTC',
  },
  de: { kept: '42,90 € für 13 von 30 Tagen', begins: 'Beginnt sofort, verlangt am: 28.11.2026, 14:02:30 UTC' },
  fr: {
    kept: '42,90 € pour 13 des 30 jours',
    begins: 'Commence immédiatement, à votre demande du : 28 nov. 2026, 14:02:30 UTC',
  },
  nl: { kept: '€ 42,90 voor 13 van 30 dagen', begins: 'Begint meteen, op jouw verzoek van: 28 nov 2026, 14:02:30 UTC' },
};
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe.each(languages)('the mails about a withdrawal in %s', (lang) => {
  const mail = (values: object) =>
    renderMail(
      {
        ...sampleMail('withdrawal-received', lang),
        template: 'withdrawal-received',
        values: { ...withdrawn, ...values },
      },
      look,
    );

  it('A withdrawal that keeps the share of the days says so in subject, lead and facts', () => {
    const { text, subject } = mail({ keptCents: 4_290, usedDays: 13, periodDays: 30 });
    const { lead, kept } = texts[lang].mail.partWithdrawn;
    expect(plain(text)).toContain(plain(lead));
    expect(plain(text)).toContain(said[lang].kept);
    expect(text).toContain(kept);
    expect([subject, text].flatMap(rawKeys)).toEqual([]);
  });

  it('One that gives everything back names no days', () => {
    const { text } = mail({});
    expect(plain(text)).toContain(plain(texts[lang].mail.withdrawalReceived.lead));
    expect(text).not.toContain(texts[lang].mail.partWithdrawn.kept);
  });

  it('The receipt names the request that the plan begins, with its time', () => {
    const sample = sampleMail('receipt', lang);
    const { text } = renderMail(
      { ...sample, template: 'receipt', values: { ...Object(sample.values), beginRequestedAt: atMs } },
      look,
    );
    expect(plain(text)).toContain(said[lang].begins);
  });
});
