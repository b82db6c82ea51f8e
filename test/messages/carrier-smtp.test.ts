import { createServer } from 'node:net';
import { smtpCarrier } from '../../server/messages/carrier-smtp.ts';
import { PermanentDeliveryError } from '../../server/messages/index.ts';
import { failureOf, headersOf, options, rendered } from './carrier-steps.ts';
import { startSmtp } from './stand-in-smtp.ts';

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
    // The operator can correct the credentials.
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
    // A refused sender says nothing about the recipient.
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
