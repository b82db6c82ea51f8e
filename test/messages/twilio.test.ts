import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '../../config/load.ts';
import { createSandboxExtensions } from '../../sandbox/index.ts';
import { createCarriers } from '../../server/carriers.ts';
import { isSmsOffered } from '../../server/deps.ts';
import { toFailureReason } from '../../server/messages/carrier.ts';
import { twilioCarrier } from '../../server/messages/carrier-twilio.ts';
import { PermanentDeliveryError } from '../../server/messages/index.ts';
import type { KeyValueStore } from '../../server/store/index.ts';
import { startTwilio } from './stand-in-twilio.ts';

const account = { accountSid: `AC${'0123456789abcdef'.repeat(2)}`, authToken: 'a token of nobody' };
const options = { idempotencyKey: '019a0000-0000-7000-8000-000000000001' };
const sms = { to: '+4915112345678', text: '123456 ist Ihr Code & gilt 10 Minuten.\n\n@login.example.com #123456' };

const failureOf = (sending: Promise<void>) =>
  sending.then(
    () => undefined,
    (error: Error) => error,
  );

describe('the carrier Twilio', () => {
  let twilio: Awaited<ReturnType<typeof startTwilio>>;
  const carrier = (more = {}) =>
    twilioCarrier({ ...account, url: twilio.url, sender: { from: '+15557122661' }, ...more });
  beforeEach(async () => {
    twilio = await startTwilio(account);
  });
  afterEach(() => twilio.close());

  it('The Twilio carrier sends one form, with a number or by a messaging service', async () => {
    await carrier().send(sms, options);
    const messagingServiceSid = `MG${'0'.repeat(32)}`;
    await carrier({ sender: { messagingServiceSid } }).send(sms, options);
    expect(twilio.received).toEqual([
      { To: sms.to, Body: sms.text, From: '+15557122661' },
      { To: sms.to, Body: sms.text, MessagingServiceSid: messagingServiceSid },
    ]);
    expect(twilio.faults).toEqual([]);
  });

  it('The configuration chooses a messaging service before a number, and no Twilio in the sandbox', async () => {
    const MG = `MG${'1'.repeat(32)}`;
    const given = {
      NODE_ENV: 'test',
      SECRET_KEY: 'k'.repeat(48),
      DATA_DIR: '/tmp',
      SEARCH_APP_URL: 'http://localhost:9',
      TWILIO_ACCOUNT_SID: account.accountSid,
      TWILIO_AUTH_TOKEN: account.authToken,
      TWILIO_URL: twilio.url,
    };
    // Only the sandbox uses this store, to keep a message.
    const kv = {} as KeyValueStore;
    for (const sender of [{ TWILIO_FROM: 'Foyer' }, { TWILIO_FROM: 'Foyer', TWILIO_MESSAGING_SERVICE_SID: MG }]) {
      const config = loadConfig({ ...given, ...sender, SANDBOX: 'false' });
      expect(isSmsOffered(config)).toBe(true);
      await (await createCarriers(config)).sms?.send(sms, options);
    }
    expect(twilio.received.map(({ From, MessagingServiceSid }) => From ?? MessagingServiceSid)).toEqual(['Foyer', MG]);
    const config = loadConfig({ ...given, TWILIO_FROM: 'Foyer', SANDBOX: 'true' });
    const sandbox = await createCarriers(config, createSandboxExtensions({ config, kv, now: Date.now }));
    expect(sandbox.sms?.name).toBe('sandbox');
    const without = loadConfig({
      NODE_ENV: 'test',
      SANDBOX: 'false',
      SEARCH_APP_URL: 'http://localhost:9',
      DATA_DIR: '/tmp',
      SECRET_KEY: given.SECRET_KEY,
    });
    expect([isSmsOffered(without), (await createCarriers(without)).sms]).toEqual([false, undefined]);
  });

  it.each([
    // These errors concern the number, so a second try would fail too.
    [400, 21211, true],
    [400, 21610, true],
    [400, 21614, true],
    [400, 21408, true],
    // These errors concern the sender, the account or Twilio, so a later try can succeed.
    [400, 21606, false],
    [401, 20003, false],
    [403, 20005, false],
    [429, 20429, false],
    [500, 20500, false],
    [503, undefined, false],
  ] as const)('A %i of Twilio with the code %s is a permanent failure: %s', async (status, code, permanent) => {
    twilio.refuse({
      status,
      ...(code !== undefined && { code }),
      message: `The 'To' number ${sms.to} is not like this`,
    });
    const failure = await failureOf(carrier().send(sms, options));
    expect(failure?.message).toContain(`Twilio ${status} (${code ?? status}): The 'To' number … is not like this`);
    expect(failure instanceof PermanentDeliveryError).toBe(permanent);
  });

  it('A failure reason contains neither the number nor the token', async () => {
    const failures = [await failureOf(carrier({ authToken: 'a wrong token' }).send(sms, options))];
    twilio.refuse({
      status: 400,
      code: 21211,
      message: `'${sms.to}' and ${sms.to} are not valid; tried +4915100000000`,
    });
    failures.push(await failureOf(carrier().send(sms, options)));
    expect(failures.map((failure) => toFailureReason(failure))).toEqual([
      'Twilio 401 (20003): Authenticate',
      "Twilio 400 (21211): '…' and … are not valid; tried …",
    ]);
  });

  it('An answer that is not JSON, a redirect, silence and a closed port are tried again', async () => {
    let given = '';
    const strange = createServer((req, res) => {
      if (req.url?.startsWith('/elsewhere')) given = req.headers.authorization ?? 'nothing';
      if (req.url?.includes('silent')) return;
      if (req.url?.includes('moved')) return void res.writeHead(307, { location: '/elsewhere' }).end();
      res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    });
    await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`;
    try {
      const broken = await failureOf(carrier({ url }).send(sms, options));
      expect(broken?.message).toBe('Twilio 502');
      const moved = await failureOf(carrier({ url, accountSid: 'moved' }).send(sms, options));
      expect(moved?.message).toMatch(/^Twilio: /);
      // The credentials did not go along.
      expect(given).toBe('');
      const silent = await failureOf(carrier({ url, accountSid: 'silent', timeoutMs: 50 }).send(sms, options));
      expect(silent?.message).toBe('Twilio: TimeoutError');
      for (const failure of [broken, moved, silent]) expect(failure).not.toBeInstanceOf(PermanentDeliveryError);
    } finally {
      strange.closeAllConnections();
      await new Promise((resolve) => strange.close(resolve));
    }
    const away = await failureOf(carrier({ url }).send(sms, options));
    expect(away?.message).toBe('Twilio: ECONNREFUSED');
    expect(away).not.toBeInstanceOf(PermanentDeliveryError);
  });
});
