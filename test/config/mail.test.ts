import { ConfigurationError, loadConfig } from '../../config/load.ts';
import { parseMailSender, parseMailTemplates } from '../../config/mail.ts';

const development = { SECRET_KEY: 's'.repeat(40) };
const production = {
  ...development,
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://login.example.com',
  SEARCH_APP_URL: 'https://search.example.com/',
  TRUST_PROXY: '1',
  MAIL_FROM: 'no-reply@example.com',
};

function faults(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults;
  }
}

describe('MAIL_FROM', () => {
  it.each([
    ['a@example.com', { address: 'a@example.com' }],
    ['Foyer <a@example.com>', { name: 'Foyer', address: 'a@example.com' }],
    [
      'Müller & Söhne, Köln <a.b+c@mail.example.com>',
      { name: 'Müller & Söhne, Köln', address: 'a.b+c@mail.example.com' },
    ],
  ])('MAIL_FROM may be %s', (text, sender) => expect(parseMailSender(text)).toEqual(sender));

  it.each([
    'a',
    'a@localhost',
    'a@example.com, b@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'Foyer\r\nBcc: b@example.com <a@example.com>',
    'x <a@example.com> <b@example.com>',
    `${'a'.repeat(65)}@example.com`,
    '',
  ])('MAIL_FROM may not be %j', (text) => expect(parseMailSender(text)).toBeUndefined());
});

describe('templates', () => {
  it('SENDGRID_TEMPLATES has names with ids', () => {
    expect(parseMailTemplates('receipt=d-1, share_page=abc')).toEqual(
      new Map([
        ['receipt', 'd-1'],
        ['share_page', 'abc'],
      ]),
    );
    for (const text of ['receipt', 'a=b=c', 'a=1,a=2', 'a=1,', '=1', 'a b=1'])
      expect(parseMailTemplates(text)).toBeUndefined();
  });

  it('SENDGRID_OPEN_TEMPLATES may only name templates of SENDGRID_TEMPLATES', () => {
    const given = { ...development, SENDGRID_TEMPLATES: 'share=d-1' };
    expect(faults({ ...given, SENDGRID_OPEN_TEMPLATES: 'share' })).toEqual([]);
    expect(faults({ ...given, SENDGRID_OPEN_TEMPLATES: 'share, other' })).toEqual([
      'SENDGRID_OPEN_TEMPLATES: SENDGRID_TEMPLATES has no other',
    ]);
  });
});

describe('production', () => {
  it.each([
    ['SENDGRID_API_KEY', 'SG.key'],
    ['SMTP_URL', 'smtp://u:p@mail.example.com'],
  ])('Production accepts %s', (name, value) => {
    expect(faults({ ...production, [name]: value })).toEqual([]);
  });

  it('Production refuses to start without a mail service and to send its key over plain http', () => {
    expect(faults(production)).toEqual([expect.stringMatching(/^SENDGRID_API_KEY or SMTP_URL is missing/)]);
    const sendGrid = { ...production, SENDGRID_API_KEY: 'SG.key', SENDGRID_URL: 'http://api.sendgrid.com' };
    expect(faults(sendGrid)).toEqual(['SENDGRID_URL: must begin with https:// in production']);
  });

  it('Production refuses templates that no configured service can send', () => {
    const smtp = { ...production, SMTP_URL: 'smtps://mail.example.com', SENDGRID_TEMPLATES: 'a=d-1' };
    expect(faults(smtp)).toEqual([expect.stringMatching(/^SENDGRID_TEMPLATES: /)]);
  });
});
