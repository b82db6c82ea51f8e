import { type Language, languages, texts } from '../../locales/index.ts';
import {
  type MailLook,
  type MailTemplate,
  mailTemplates,
  renderMail,
  type SecurityChange,
  sampleMail,
} from '../../server/messages/index.ts';
import { rawKeys } from '../views/raw-keys.ts';

const look: MailLook = { publicUrl: 'https://login.example.com', brandName: 'Maison & Söhne' };
const everyMail = mailTemplates.flatMap((template) => languages.map((lang) => ({ template, lang })));
const rendered = ({ template, lang }: { template: MailTemplate; lang: Language }, over: Partial<MailLook> = {}) =>
  renderMail(sampleMail(template, lang), { ...look, ...over });

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };
const plain = (markup: string) => markup.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? '');
const body = (html: string) => html.slice(html.indexOf('</head>'));
/** The words that the HTML shows, each element's apart. */
const wordsOf = (html: string) =>
  plain(body(html).replace(/<div[^>]*display:none[^>]*>[^<]*<\/div>/, ''))
    .split(/<[^>]*>/)
    .map((words) => words.trim())
    .filter((words) => /[\p{L}\p{N}]/u.test(words));

/** What some mails lead to that is not ours: the card provider's page of the invoice that they are about, and nothing else. */
const elsewhere: Partial<Record<MailTemplate, string>> = {
  receipt: 'https://invoice.stripe.com/i/acct_1/live_7?s=ap',
  'refund-made': 'https://invoice.stripe.com/i/acct_1/live_7?s=ap',
  'payment-disputed': 'https://invoice.stripe.com/i/acct_1/live_7?s=ap',
  'refund-failed': 'https://invoice.stripe.com/i/acct_1/live_7?s=ap',
};

/** Elements that are not closed, or closed in the wrong order. */
function unbalanced(html: string): string[] {
  const empty = new Set(['meta', 'br', 'img', 'hr', 'link']);
  const open: string[] = [];
  const faults: string[] = [];
  const withoutStyles = html.replaceAll(/<style>.*?<\/style>/gs, '').replace('<!doctype html>', '');
  for (const [tag, slash, name = '', end] of withoutStyles.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*?(\/?)>/g)) {
    if (slash === '') {
      if (end === '' && !empty.has(name)) open.push(name);
    } else if (open.pop() !== name) faults.push(tag);
  }
  return [...faults, ...open];
}

it('Foyer has forty-three mails in four languages', () => {
  expect(everyMail).toHaveLength(172);
});

describe.each(everyMail)('the mail $template in $lang', ({ template, lang }) => {
  const { subject, html, text } = rendered({ template, lang });

  it('The mail has a subject of one line with the brand’s name and no gaps', () => {
    expect(subject).toContain('Maison & Söhne');
    expect(subject).not.toMatch(/\{\{|\}\}|undefined|\s{2}|[\r\n]/);
    expect(subject.length).toBeLessThan(80);
    expect(html).toContain(`<title>${subject.replace('&', '&amp;')}</title>`);
  });

  it('The mail shows texts and no keys', () => {
    expect(rawKeys(body(html))).toEqual([]);
    expect(rawKeys(subject)).toEqual([]);
    expect(rawKeys(text)).toEqual([]);
  });

  it('The mail has the same content in plain text, without any markup', () => {
    const inText = text.replaceAll(/\s+/g, ' ');
    const words = wordsOf(html);
    expect(words.length).toBeGreaterThan(6);
    // The address without its scheme, and the code's label, which the text does not need.
    const onlyInHtml = words.filter((part) => !inText.includes(part.replaceAll(/\s+/g, ' ').replace(/[,.]$/, '')));
    expect(
      onlyInHtml.filter((part) => !/^(Security code|Sicherheitscode|Code de sécurité|Beveiligingscode)$/.test(part)),
    ).toEqual([]);
    expect(text).not.toMatch(/<\/?[a-z]|&(?:amp|lt|gt|quot|#x27);|\n{3}/);
  });

  it('The mail names its recipient and its reason, and shows every address that it links to', () => {
    expect(text).toContain('vera@example.com');
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => plain(href));
    expect(links).toContain('https://login.example.com/');
    expect(links.filter((href) => href === elsewhere[template])).toHaveLength(template in elsewhere ? 1 : 0);
    for (const href of links) {
      if (href !== elsewhere[template]) expect(new URL(href).origin).toBe('https://login.example.com');
      expect(text).toContain(`\n${href}\n`);
    }
  });

  it('The mail loads nothing, runs nothing and has no form', () => {
    expect(html).not.toMatch(/<(?:img|link|script|iframe|form|input|object|video|svg|base)\b/i);
    expect(html).not.toMatch(/url\(|@import|@font-face|background=|src=|srcset=|\son\w+=|javascript:/i);
    const addresses = [...html.matchAll(/https?:\/\/[^"<\s]+/g)].map(([address]) => plain(address));
    const own = addresses.filter((address) => address !== elsewhere[template]);
    expect(own.filter((address) => !address.startsWith(look.publicUrl))).toEqual([]);
  });

  it('The mail is a complete document in its language: balanced, with layout tables only, small enough not to be cut', () => {
    expect(html.match(/<html/g)).toHaveLength(1);
    expect(html).toMatch(new RegExp(`^<!doctype html><html lang="${lang}" dir="ltr">`));
    expect(unbalanced(html)).toEqual([]);
    expect(html.match(/<h1/g)).toHaveLength(1);
    expect([...html.matchAll(/<table\b[^>]*>/g)].filter(([tag]) => !tag.includes('role="presentation"'))).toEqual([]);
    // Gmail cuts at 102 kB, and reads style elements up to 8 kB. A receipt has every line of its invoice.
    expect(Buffer.byteLength(html)).toBeLessThan(template === 'receipt' ? 15_500 : 10_250);
    expect(/<style>.*<\/style>/s.exec(html)?.[0].length).toBeLessThan(1_400);
    expect(html).toContain('<meta name="color-scheme" content="light dark"/>');
    expect(html).toContain('@media (prefers-color-scheme:dark)');
  });

  it('Each shown element has its style inline, with lengths in px only', () => {
    const tags = [...body(html).matchAll(/<(?:body|div|td|h1|p|a|span|strong|b)\b[^>]*>/g)].map(([tag]) => tag);
    expect(tags.length).toBeGreaterThan(10);
    expect(tags.filter((tag) => !/ style="[^"]+"/.test(tag))).toEqual([]);
    const styles = tags.map((tag) => / style="([^"]*)"/.exec(tag)?.[1]?.replaceAll(/#[0-9a-f]{6}/g, '') ?? '');
    const lengths = styles.flatMap((style) => style.match(/\d[a-z%]+/g) ?? []);
    expect([...new Set(lengths.map((length) => length.slice(1)))]).toEqual(['px']);
  });

  it('Outlook on Windows finds each background as bgcolor, one scale for the screen, and no long style element', () => {
    const tags = [...body(html).matchAll(/<[a-z][^>]*background-color:(#[0-9a-f]{6})[^>]*>/g)];
    expect(tags.length).toBeGreaterThanOrEqual(3);
    for (const [tag, colour] of tags) expect(tag).toMatch(new RegExp(`^<(?:body|table|td)\\b.* bgcolor="${colour}"`));
    expect(html.match(/bgcolor=/g)).toHaveLength(tags.length);
    expect(html.match(/<!--\[if mso\]>.*?<o:PixelsPerInch>96<\/o:PixelsPerInch>.*?<!\[endif\]-->/g)).toHaveLength(1);
    const styles = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, css = '']) => css);
    expect(styles).toHaveLength(4);
    expect(styles.filter((css) => css.length >= 600)).toEqual([]);
    // A client drops a whole element for a selector that it cannot parse.
    expect(styles.filter((css) => css.includes('x-apple-data-detectors'))).toEqual([
      expect.stringMatching(/^a\[x-apple-data-detectors\]\{[^{}]*\}$/),
    ]);
  });

  it('The mail greets the user by name', () => {
    expect(text).toMatch(/^(?:Hello|Guten Tag|Bonjour|Hallo) Vera,$/m);
  });
});

it('The values of each mail keep their names, because stored messages of the outbox have them', () => {
  const action = 'address atMs device';
  const card = 'cardType lastFour';
  const unpaid = 'amountCents currency keptUntil pageLink planName';
  const names: Record<MailTemplate, string> = {
    'verify-email': 'code minutes sentAtMs',
    welcome: '',
    'password-reset': 'code minutes sentAtMs',
    'sign-in-code': 'code minutes sentAtMs',
    'password-changed': 'atMs',
    'account-exists': '',
    'first-password': '',
    'new-device': action,
    'recovery-code-used': `${action} left`,
    'second-factor-guessed': action,
    'change-email': 'code minutes sentAtMs',
    'email-change-asked': `${action} newEmail`,
    'email-changed': `${action} newEmail undoUntilMs undoUrl`,
    'email-undone': 'atMs',
    'security-notice': `${action} change detail`,
    'deletion-asked': `${action} dueAtMs`,
    'deletion-cancelled': action,
    'factor-reset-asked': 'atMs cancelUrl dueAtMs',
    'factor-reset-cancelled': 'atMs',
    'factor-reset-done': 'atMs',
    'withdrawal-received': 'amountCents atMs currency orderDate pageLink planName',
    'cancel-link': 'atMs cancelUrl pageLink validUntilMs',
    receipt: `${card} creditUsed currency discount email fullName invoiceNumber invoiceUrl keptCredit orderDate pageLink planAmount planName planType renewDate rewards tax taxPercent totalAmount unused zipcode`,
    'payment-failed': `${unpaid} ${card} nextAttemptAt`,
    'payment-action-required': unpaid,
    'trial-ends': 'days endsAt pageLink',
    'plan-ended': 'endedAt pageLink planName planNow why',
    'plan-changes': 'amountCents changesAt currency fromPlan pageLink toPlan toPlanType',
    'card-changed': `atMs ${card} pageLink`,
    'card-removed': `atMs ${card} pageLink`,
    'plan-cancelled': 'endsAt pageLink planName',
    'plan-pauses': 'amountCents currency pageLink pausesAt planName resumesAt',
    'plan-paused': 'amountCents currency pageLink planName resumesAt',
    'plan-not-paused': 'pageLink planName',
    'gift-redeemed': 'endsAt pageLink planName',
    'gift-ends': 'endsAt pageLink planName',
    'plan-not-resumed': 'amountCents currency endsAt pageLink planName',
    'renewal-notice': 'amountCents currency pageLink planName renewsAt',
    'plan-trial-began': 'amountCents chargedAt currency pageLink planName planType',
    'plan-trial-ends': 'amountCents chargedAt currency pageLink planName planType',
    'refund-made': `amountCents ${card} currency invoiceNumber invoiceUrl pageLink planName`,
    'refund-failed': `amountCents ${card} currency invoiceNumber invoiceUrl pageLink planName`,
    'payment-disputed': `amountCents ${card} currency end invoiceNumber invoiceUrl pageLink planName`,
  };
  expect(mailTemplates).toEqual(Object.keys(names));
  for (const template of mailTemplates) {
    const expected = ['givenName', ...names[template].split(' ').filter((name) => name !== '')];
    expect({ template, names: Object.keys(sampleMail(template, 'en').values).sort() }).toEqual({
      template,
      names: expected.sort(),
    });
  }
});

describe.each(languages)('the code in %s', (lang) => {
  it.each(['verify-email', 'password-reset', 'sign-in-code', 'change-email'] as const)(
    'The code of %s begins the subject, and is one word, large, on a line of its own',
    (template) => {
      const { html, text, subject } = rendered({ template, lang });
      expect(text).toMatch(/^493027$/m);
      const [, style] = /<div class="[^"]*" style="([^"]*)">493027<\/div>/.exec(html) ?? [];
      expect(style).toMatch(/font-size:3\dpx/);
      expect(style).toMatch(/letter-spacing:\d+px/);
      // Phones offer the code from the notification.
      expect(subject).toMatch(/^493027 /);
      expect(html.slice(html.indexOf('<body'), html.indexOf('<table'))).not.toContain('493027');
    },
  );

  it('The mail states the life of the code in the plural forms of the language', () => {
    const minutesIn = (minutes: number) =>
      renderMail({ ...sampleMail('verify-email', lang), values: { givenName: '', code: '493027', minutes } }, look)
        .text;
    expect(minutesIn(10)).toMatch(/\b10 (?:minutes|Minuten|minuten)\b/);
    expect(minutesIn(1)).toMatch(/\b1 (?:minute|Minute|minuut)\b/);
  });
});

describe.each(languages)('the notice of a change in %s', (lang) => {
  const changes = Object.keys(texts.en.mail.securityNotice.changes) as SecurityChange[];
  const notice = (change: SecurityChange, detail?: string) =>
    renderMail(
      {
        ...sampleMail('security-notice', lang),
        template: 'security-notice',
        values: {
          givenName: 'Vera',
          atMs: 0,
          change,
          device: 'Firefox',
          address: '203.0.113.7',
          ...(detail && { detail }),
        },
      },
      look,
    );

  it('The notice has its own subject and title for each change', () => {
    const subjects = changes.map((change) => {
      const { subject, text } = notice(change);
      const words = texts[lang].mail.securityNotice.changes[change];
      expect(subject).toContain(words);
      expect(subject.length).toBeLessThan(80);
      expect(text.startsWith(`${words}\n`)).toBe(true);
      return subject;
    });
    expect(new Set(subjects).size).toBe(changes.length);
  });

  it('The notice names the changed item in one line, and has no such line when there is no item', () => {
    const label = texts[lang].mail.securityNotice.detail;
    expect(notice('passkey-added', '<b>My\nkey</b>').text).toMatch(new RegExp(`^${label}\\s?: <b>My key</b>$`, 'm'));
    expect(notice('passkey-added', '<b>').html).not.toContain('<b>');
    expect(notice('name').text).not.toMatch(new RegExp(`^${label}\\s?:`, 'm'));
  });
});

describe('brand and operator settings of mails', () => {
  const mail = { template: 'welcome', lang: 'en' } as const;

  it('The mail shows Foyer’s sign beside the name unless the brand has a logo, which mails cannot load', () => {
    expect(rendered(mail).html).toContain('aria-hidden="true"><tbody>');
    const own = rendered(mail, { brandLogoUrl: 'https://cdn.example.com/logo.png' }).html;
    expect(own).not.toContain('aria-hidden="true"><tbody>');
    expect(own).not.toContain('cdn.example.com');
  });

  it('The mail links to the help centre, else to the support address, else to nothing', () => {
    const help = { helpUrl: 'https://help.example.com/' };
    const support = { supportAddress: 'support@example.com' };
    expect(rendered(mail, { ...help, ...support })).toMatchObject({
      text: expect.stringMatching(/Questions\? https:\/\/help\.example\.com\/\n$/),
      html: expect.stringContaining('href="https://help.example.com/"'),
    });
    expect(rendered(mail, support)).toMatchObject({
      text: expect.stringMatching(/Questions\? support@example\.com\n$/),
      html: expect.stringContaining('href="mailto:support@example.com"'),
    });
    expect(rendered(mail).text).not.toContain('Questions?');
  });

  it('The brand’s name is escaped in HTML and unchanged in the text', () => {
    const { html, text } = rendered(mail, { brandName: '<b>"A" & \'B\'</b>' });
    expect(html).not.toContain('<b>');
    expect(text).toContain('<b>"A" & \'B\'</b>');
  });
});
