import { sendGridCarrier } from '../../server/messages/carrier-sendgrid.ts';
import { smtpCarrier } from '../../server/messages/carrier-smtp.ts';
import { createDelivery } from '../../server/messages/deliver-message.ts';
import { type Carriers, type Message, PermanentDeliveryError, renderMail } from '../../server/messages/index.ts';
import type { Database } from '../../server/store/index.ts';
import { toE164 } from '../support/ids.ts';
import { failureOf, headersOf, options, rendered } from './carrier-steps.ts';
import { startSendGrid } from './stand-in-sendgrid.ts';
import { startSmtp } from './stand-in-smtp.ts';

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
        // This subject contains the name unescaped.
        return { subject: `Hello ${mail.values.givenName}`, html, text };
      },
      templateId: (name) => name,
    })(message, { id: options.idempotencyKey, createdAt: 0, decoy: 0 });
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
  const row = { id: options.idempotencyKey, createdAt: 0, decoy: 0 };

  it('Without a carrier, a text message is a dead letter and a mail waits for the operator', async () => {
    await expect(deliver({ channel: 'sms', to: toE164('+491700000000'), text: 'x' }, row)).rejects.toThrow(
      PermanentDeliveryError,
    );
    const mail = failureOf(deliver({ channel: 'mail', to: 'ada@example.com', template: 'mapped:x', values: {} }, row));
    expect(await mail).not.toBeInstanceOf(PermanentDeliveryError);
    expect((await mail)?.message).toContain('SENDGRID_API_KEY or SMTP_URL');
  });
});
