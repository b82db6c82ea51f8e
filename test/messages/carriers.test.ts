import { createServer } from 'node:net';
import { sendGridCarrier } from '../../server/messages/carrier-sendgrid.ts';
import { smtpCarrier } from '../../server/messages/carrier-smtp.ts';
import { createDelivery } from '../../server/messages/deliver-message.ts';
import {
  type Carriers,
  type Message,
  type OutgoingMail,
  PermanentDeliveryError,
  renderMail,
} from '../../server/messages/index.ts';
import type { Database } from '../../server/store/index.ts';
import { toE164 } from '../support/ids.ts';
import { startSendGrid } from './stand-in-sendgrid.ts';
import { type SmtpMail, startSmtp } from './stand-in-smtp.ts';

const rendered: OutgoingMail = {
  to: 'ada@example.com',
  from: { address: 'no-reply@example.com', name: 'Foyer & Söhne' },
  replyTo: 'help@example.com',
  subject: 'Grüße — your code',
  html: '<p>123456</p>',
  text: '123456',
};
const options = { idempotencyKey: '019a0000-0000-7000-8000-000000000001' };

/** What it failed with. */
const failureOf = (sending: Promise<void>) =>
  sending.then(
    () => undefined,
    (error: Error) => error,
  );

/** The headers, unfolded (RFC 5322, section 2.2.3), by name; each is there once. */
function headersOf({ head }: SmtpMail): Map<string, string> {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const pairs = lines.map((line) => /^([\w-]+): ?(.*)$/.exec(line)?.slice(1) ?? ['', line]);
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

describe('the carrier SMTP', () => {
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  const carrier = () => smtpCarrier({ url: `smtp://127.0.0.1:${smtp.port}?requireTLS=false` });
  beforeEach(async () => {
    smtp = await startSmtp();
  });
  afterEach(() => smtp.close());

  it('The SMTP carrier sends one mail with both texts and a Message-ID that stays the same', async () => {
    await carrier().send(rendered, options);
    await carrier().send(rendered, options);
    expect(smtp.received).toHaveLength(2);
    for (const mail of smtp.received) {
      expect(mail).toMatchObject({ from: 'no-reply@example.com', to: ['ada@example.com'] });
      const headers = headersOf(mail);
      expect(headers.get('Message-ID')).toBe(`<${options.idempotencyKey}@example.com>`);
      expect(headers.get('To')).toBe('ada@example.com');
      expect(headers.get('Reply-To')).toBe('help@example.com');
      expect(headers.get('From')).toMatch(/^=\?UTF-8\?.* <no-reply@example\.com>$/);
      expect(headers.get('Auto-Submitted')).toBe('auto-generated');
      expect(mail.body).toMatch(/text\/plain[\s\S]*123456[\s\S]*text\/html[\s\S]*<p>123456<\/p>/);
    }
  });

  it('The SMTP carrier signs in with the credentials of its address', async () => {
    await smtp.close();
    smtp = await startSmtp({ login: { user: 'foyer@example.com', pass: 'a/b:c@d' } });
    const at = (user: string) => `smtp://${user}@127.0.0.1:${smtp.port}?requireTLS=false`;
    await smtpCarrier({ url: at(`foyer%40example.com:${encodeURIComponent('a/b:c@d')}`) }).send(rendered, options);
    expect(smtp.received).toHaveLength(1);
    const wrong = await failureOf(smtpCarrier({ url: at('foyer:wrong') }).send(rendered, options));
    expect(wrong).toBeInstanceOf(Error);
    // The operator can mend it.
    expect(wrong).not.toBeInstanceOf(PermanentDeliveryError);
  });

  it('The SMTP carrier sends nothing without TLS unless the configuration allows it', async () => {
    const failure = await failureOf(smtpCarrier({ url: `smtp://127.0.0.1:${smtp.port}` }).send(rendered, options));
    expect(failure?.message).toMatch(/STARTTLS/);
    expect(smtp.received).toEqual([]);
  });

  it.each([
    ['RCPT TO', 550, true],
    ['DATA', 554, true],
    ['RCPT TO', 450, false],
    ['DATA', 451, false],
    // Our own sender is refused: that says nothing of the recipient.
    ['MAIL FROM', 550, false],
  ] as const)('A %s command refused with %i is a permanent failure: %s', async (at, code, permanent) => {
    Object.assign(smtp.refuse, { at, code });
    const failure = await failureOf(carrier().send(rendered, options));
    expect(failure?.message).toContain(String(code));
    expect(failure instanceof PermanentDeliveryError).toBe(permanent);
  });

  it('A mail server that is away or silent is tried again', async () => {
    await smtp.close();
    const away = await failureOf(carrier().send(rendered, options));
    expect(away?.message).toContain('ECONNREFUSED');
    expect(away).not.toBeInstanceOf(PermanentDeliveryError);
    const dumb = createServer(() => {});
    await new Promise<void>((resolve) => dumb.listen(smtp.port, '127.0.0.1', resolve));
    try {
      const url = `smtp://127.0.0.1:${smtp.port}?requireTLS=false`;
      const silent = await failureOf(smtpCarrier({ url, timeoutMs: 50 }).send(rendered, options));
      expect(silent).toBeInstanceOf(Error);
      expect(silent).not.toBeInstanceOf(PermanentDeliveryError);
    } finally {
      await new Promise((resolve) => dumb.close(resolve));
      smtp = await startSmtp();
    }
  });

  it('The SMTP carrier has no templates of its own', async () => {
    const { to, from } = rendered;
    await expect(carrier().send({ to, from, templateId: 'd-1', values: {} }, options)).rejects.toThrow(
      PermanentDeliveryError,
    );
  });
});

describe('the carrier SendGrid', () => {
  const apiKey = 'SG.test-key.of-nobody';
  let sendGrid: Awaited<ReturnType<typeof startSendGrid>>;
  const carrier = () => sendGridCarrier({ apiKey, url: sendGrid.url });
  beforeEach(async () => {
    sendGrid = await startSendGrid(apiKey);
  });
  afterEach(() => sendGrid.close());

  it('The SendGrid carrier sends rendered mails unchanged, without tracking, with the key', async () => {
    await carrier().send(rendered, options);
    expect(sendGrid.faults).toEqual([]);
    expect(sendGrid.received[0]?.headers['x-message-id']).toBe(options.idempotencyKey);
    expect(sendGrid.received[0]?.body).toEqual({
      personalizations: [{ to: [{ email: 'ada@example.com' }] }],
      from: { email: 'no-reply@example.com', name: 'Foyer & Söhne' },
      reply_to: { email: 'help@example.com' },
      subject: rendered.subject,
      content: [
        { type: 'text/plain', value: '123456' },
        { type: 'text/html', value: '<p>123456</p>' },
      ],
      headers: { 'X-Message-Id': options.idempotencyKey },
      custom_args: { message_id: options.idempotencyKey },
      tracking_settings: { click_tracking: { enable: false, enable_text: false }, open_tracking: { enable: false } },
    });
  });

  it('The SendGrid carrier sends templates of both generations with their merge variables', async () => {
    const { to, from } = rendered;
    const values = { fullname: 'Ada', total_Amount: '1' };
    await carrier().send({ to, from, templateId: 'd-1', values }, options);
    await carrier().send({ to, from, templateId: 'old-1', values }, options);
    expect(sendGrid.faults).toEqual([]);
    const [fresh, old] = sendGrid.received.map(({ body }) => body);
    expect(fresh).toMatchObject({ template_id: 'd-1', personalizations: [{ dynamic_template_data: values }] });
    // As the older ones write them.
    const substitutions = { '{{fullname}}': 'Ada', '{{total_Amount}}': '1' };
    expect(old).toMatchObject({ template_id: 'old-1', personalizations: [{ substitutions }] });
    expect(fresh?.content).toBeUndefined();
  });

  it.each([
    [400, 'personalizations.0.to.0.email', true],
    [400, 'from.email', false],
    [400, null, false],
    [413, null, true],
    [401, null, false],
    [429, null, false],
    [503, null, false],
  ] as const)('A %i of SendGrid about %s is a permanent failure: %s', async (status, field, permanent) => {
    sendGrid.refuse({ status, errors: [{ message: 'not like this', field }] });
    const failure = await failureOf(carrier().send(rendered, options));
    expect(failure?.message).toContain(`SendGrid ${status}: not like this`);
    expect(failure?.message).not.toContain(apiKey);
    expect(failure instanceof PermanentDeliveryError).toBe(permanent);
  });

  it('A SendGrid that is away is tried again', async () => {
    const { url } = sendGrid;
    await sendGrid.close();
    const failure = await failureOf(sendGridCarrier({ apiKey, url }).send(rendered, options));
    expect(failure?.message).toContain('ECONNREFUSED');
    expect(failure).not.toBeInstanceOf(PermanentDeliveryError);
    sendGrid = await startSendGrid(apiKey);
  });
});

describe('attack: header injection', () => {
  const look = { publicUrl: 'https://login.example.com', brandName: 'Foyer\r\nBcc: evil@example.net' };
  const evils = [
    '\r\nBcc: evil@example.net',
    '\nX-Evil: 1',
    '\r\n\r\nbody',
    '\u2028Bcc: evil@example.net',
    '\u0000',
    '\u0085',
  ];
  const database = {} as Database;
  const deliver = (carriers: Carriers, message: Message) =>
    createDelivery({
      database,
      carriers,
      from: { address: 'no-reply@example.com', name: `Foyer${evils[0]}` },
      render: (mail) => {
        const { html, text } = renderMail(mail, look);
        // As if a subject held a name as it was typed.
        return { subject: `Hello ${mail.values.givenName}`, html, text };
      },
      templateId: (name) => name,
    })(message, { id: options.idempotencyKey, created_at: 0, decoy: 0 });
  const welcome = (to: string, givenName: string): Message => ({
    channel: 'mail',
    to,
    template: 'welcome',
    lang: 'en',
    values: { givenName },
  });

  it.each(evils)('Attack: a name with %j cannot end a header', async (evil) => {
    const [smtp, sendGrid] = await Promise.all([startSmtp(), startSendGrid('SG.key')]);
    try {
      for (const mail of [
        smtpCarrier({ url: `smtp://127.0.0.1:${smtp.port}?requireTLS=false` }),
        sendGridCarrier({ apiKey: 'SG.key', url: sendGrid.url }),
      ]) {
        await deliver({ mail }, welcome('ada@example.com', `Ada${evil}`));
      }
      const [mail] = smtp.received;
      if (!mail) throw new Error('nothing came');
      expect(mail.to).toEqual(['ada@example.com']);
      expect([...headersOf(mail).keys()].sort()).toEqual([
        'Auto-Submitted',
        'Content-Type',
        'Date',
        'From',
        'MIME-Version',
        'Message-ID',
        'Subject',
        'To',
      ]);
      expect(mail.head).not.toContain('\u0000');
      const { subject = '', from, personalizations } = sendGrid.received[0]?.body ?? {};
      for (const text of [subject, from?.name ?? '']) expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      expect(personalizations).toHaveLength(1);
      expect(sendGrid.faults).toEqual([]);
    } finally {
      await Promise.all([smtp.close(), sendGrid.close()]);
    }
  });

  it.each([
    ...evils.flatMap((evil) => [`ada@example.com${evil}`, `ada${evil}@example.com`]),
    'ada@example.com, evil@example.net',
    'ada@example.com;evil@example.net',
    '"Ada" <ada@example.com>',
    '<ada@example.com>',
    'ada@example.com>',
    'evil@example.net\tada@example.com',
    '"a b"@example.com',
    'undisclosed:ada@example.com;',
    'ada@[127.0.0.1]',
    'ada',
    '@example.com',
    'ada@',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a.'.repeat(130)}com`,
  ])('Attack: no carrier gets %j as an address', async (to) => {
    const given: unknown[] = [];
    const mail = { name: 'never', send: async (outgoing: unknown) => void given.push(outgoing) };
    await expect(deliver({ mail }, welcome(to, 'Ada'))).rejects.toThrow(PermanentDeliveryError);
    expect(given).toEqual([]);
  });

  it.each(['ada@example.com', "o'neil+x=y@mail.example.co.uk", 'jörg@exämple.de', 'a@localhost'])(
    'A carrier gets %s as an address',
    async (to) => {
      const given: unknown[] = [];
      const mail = { name: 'recorder', send: async (outgoing: unknown) => void given.push(outgoing) };
      await deliver({ mail }, welcome(to, 'Ada'));
      expect(given).toEqual([expect.objectContaining({ to })]);
    },
  );
});

describe('without a carrier', () => {
  const deliver = createDelivery({
    database: {} as Database,
    carriers: {},
    from: { address: 'a@example.com' },
    render: () => rendered,
    templateId: () => undefined,
  });
  const row = { id: options.idempotencyKey, created_at: 0, decoy: 0 };

  it('Without a carrier, a text message is a dead letter and a mail waits for the operator', async () => {
    await expect(deliver({ channel: 'sms', to: toE164('+491700000000'), text: 'x' }, row)).rejects.toThrow(
      PermanentDeliveryError,
    );
    const mail = failureOf(deliver({ channel: 'mail', to: 'ada@example.com', template: 'mapped:x', values: {} }, row));
    expect(await mail).not.toBeInstanceOf(PermanentDeliveryError);
    expect((await mail)?.message).toContain('SENDGRID_API_KEY or SMTP_URL');
  });
});
