import { startSmtp } from '../messages/stand-in-smtp.ts';
import { startTwilio } from '../messages/stand-in-twilio.ts';
import { cliOn } from '../support/cli.ts';

const password = 'mail-pass-word-1';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

describe('foyer mail send', () => {
  const stores = { databaseUrl: '', redisUrl: '', dataDir: '/nowhere/at/all' };
  const on = (environment: Record<string, string>) =>
    cliOn(stores, { NODE_ENV: 'test', SANDBOX: 'true', BRAND_NAME: 'Maison', ...environment });

  it('The command sends one sample at once, in the language, and prints which service accepted it', async () => {
    const smtp = await startSmtp({ login: { user: 'foyer', pass: password } });
    closers.push(() => void smtp.close());
    const foyer = on({ SMTP_URL: `smtp://foyer:${password}@127.0.0.1:${smtp.port}?requireTLS=false` });
    const run = await foyer('mail', 'send', 'welcome', '--to', 'you@example.com', '--lang', 'nl');
    expect({ code: run.code, err: run.err }).toEqual({ code: 0, err: '' });
    expect(run.out).toMatch(/smtp.*you@example\.com/);
    expect(run.out).toMatch(/Its answer: 250 .*OK/);
    expect(smtp.received.map(({ to }) => to)).toEqual([['you@example.com']]);
    expect(smtp.received[0]?.head).toContain('Maison');
  });

  it('A refused login, a wrong address and a missing service end with a plain reason and print no secret', async () => {
    const smtp = await startSmtp({ login: { user: 'foyer', pass: 'another one' } });
    closers.push(() => void smtp.close());
    const foyer = on({ SMTP_URL: `smtp://foyer:${password}@127.0.0.1:${smtp.port}?requireTLS=false` });
    const refused = await foyer('mail', 'send', 'welcome', '--to', 'you@example.com');
    expect(refused.code).toBe(4);
    expect(refused.err).toContain('has not taken the mail');
    expect(refused.err + refused.out).not.toContain(password);
    const wrong = await foyer('mail', 'send', 'welcome', '--to', 'you@example.com, evil@example.com');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--to')]);
    expect((await foyer('mail', 'send', 'invoice', '--to', 'you@example.com')).code).toBe(2);
    const none = await on({})('mail', 'send', 'welcome', '--to', 'you@example.com');
    expect([none.code, none.err]).toEqual([4, expect.stringContaining('SENDGRID_API_KEY or SMTP_URL')]);
    expect(smtp.received).toEqual([]);
  });
});

describe('foyer sms send', () => {
  const account = { accountSid: `AC${'1'.repeat(32)}`, authToken: password };
  const stores = { databaseUrl: '', redisUrl: '', dataDir: '/nowhere/at/all' };
  const on = (url: string) =>
    cliOn(stores, {
      NODE_ENV: 'test',
      SANDBOX: 'true',
      TWILIO_ACCOUNT_SID: account.accountSid,
      TWILIO_AUTH_TOKEN: account.authToken,
      TWILIO_FROM: '+15557122661',
      TWILIO_URL: url,
    });

  it('The command sends one code that opens nothing, in the language, and prints the answer of the service', async () => {
    const twilio = await startTwilio(account);
    closers.push(() => void twilio.close());
    const run = await on(twilio.url)('sms', 'send', '--to', '+31612345642', '--lang', 'nl', '--json');
    expect({ code: run.code, err: run.err }).toEqual({ code: 0, err: '' });
    expect(run.json()).toEqual({
      to: '+31612345642',
      service: 'twilio',
      taken: true,
      answer: expect.stringMatching(/^201, queued as SM0+1$/),
    });
    expect(twilio.received).toEqual([expect.objectContaining({ To: '+31612345642', From: '+15557122661' })]);
    expect(twilio.received[0]?.Body).toContain('000000');
  });

  it('A refusal, a wrong number and a missing account end with a plain reason and print no secret', async () => {
    const twilio = await startTwilio({ ...account, authToken: 'another one' });
    closers.push(() => void twilio.close());
    const refused = await on(twilio.url)('sms', 'send', '--to', '+31612345642');
    expect([refused.code, refused.err]).toEqual([4, expect.stringMatching(/has not taken .*401 \(20003\)/)]);
    expect(refused.err + refused.out).not.toContain(password);
    expect((await on(twilio.url)('sms', 'send', '--to', '0612345642')).code).toBe(2);
    const none = await cliOn(stores, { NODE_ENV: 'test', SANDBOX: 'true' })('sms', 'send', '--to', '+31612345642');
    expect([none.code, none.err]).toEqual([4, expect.stringContaining('TWILIO_ACCOUNT_SID')]);
    expect(twilio.received).toEqual([]);
  });
});
