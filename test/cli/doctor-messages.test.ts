import { createSocket } from 'node:dgram';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { checkMessages, textRecords } from '../../server/cli/doctor/messages.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { production } from '../attacks/production.ts';
import { startSmtp } from '../messages/stand-in-smtp.ts';
import { makeCertificate } from '../support/certificate.ts';
import { freePort } from '../support/services.ts';

const dayMs = 24 * 60 * 60_000;
const password = 'mail-pass-word-1';
const zone = (records: Record<string, string[]>) => async (name: string) => {
  const found = records[name];
  if (!found) throw Object.assign(new Error(`queryTxt ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  // Long records come in parts.
  return found.map((record) => [record.slice(0, 10), record.slice(10)]);
};
const goodZone = {
  'example.com': ['v=spf1 include:mail.example -all', 'other=1'],
  's1._domainkey.example.com': ['v=DKIM1; k=rsa; p=MIGfMA0GCSq'],
  '_dmarc.example.com': ['v=DMARC1; p=reject'],
};

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function listening(server: Server): Promise<number> {
  closers.push(() => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
const http = (listener: RequestListener) => listening(createServer(listener));

async function look(more: Record<string, string>, records: Record<string, string[]> = goodZone) {
  const setup = readSetup({ ...production, ...more }, Date.now, { resolveTxt: zone(records) });
  const findings = await checkMessages(setup);
  expect(JSON.stringify(findings)).not.toContain(password);
  return findings.map(({ id, level }) => `${id} ${level}`).sort();
}
const sender = ['messages.dkim ok', 'messages.dmarc ok', 'messages.spf ok'];

it('Name servers that do not answer delay the doctor by some seconds and not by half a minute', async () => {
  const socket = createSocket('udp4');
  closers.push(() => socket.close());
  let asked = 0;
  socket.on('message', () => {
    asked += 1;
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const beganMs = performance.now();
  const servers = [`127.0.0.1:${socket.address().port}`];
  await expect(textRecords('example.com', servers)).rejects.toMatchObject({ code: 'ETIMEOUT' });
  expect(performance.now() - beganMs).toBeLessThan(15_000);
  expect(asked).toBe(2);
}, 30_000);

describe('foyer doctor on the mail server', () => {
  it('A mail server that accepts the login is in order', async () => {
    const smtp = await startSmtp({ login: { user: 'foyer', pass: password } });
    closers.push(() => void smtp.close());
    const url = `smtp://foyer:${password}@127.0.0.1:${smtp.port}?requireTLS=false`;
    expect(await look({ SMTP_URL: url })).toEqual([...sender, 'messages.smtp ok'].sort());
    expect(smtp.received).toEqual([]);
  });

  it('A refused login is a fault that does not show the password', async () => {
    const smtp = await startSmtp({ login: { user: 'foyer', pass: 'another one' } });
    closers.push(() => void smtp.close());
    const url = `smtp://foyer:${password}@127.0.0.1:${smtp.port}?requireTLS=false`;
    expect(await look({ SMTP_URL: url })).toContain('messages.smtp fault');
  });

  it('A closed port, a server without STARTTLS and an untrusted certificate are faults', async () => {
    expect(await look({ SMTP_URL: `smtps://127.0.0.1:${await freePort()}` })).toContain('messages.smtp fault');
    const plain = await startSmtp();
    closers.push(() => void plain.close());
    expect(await look({ SMTP_URL: `smtp://127.0.0.1:${plain.port}` })).toContain('messages.smtp fault');
    const { key, cert } = makeCertificate(['127.0.0.1'], Date.now() - dayMs, Date.now() + dayMs);
    const tls = new SMTPServer({ secure: true, key, cert, authOptional: true });
    tls.on('error', () => {});
    const port = await listening(tls.server as Server);
    expect(await look({ SMTP_URL: `smtps://127.0.0.1:${port}` })).toContain('messages.smtp fault');
  });

  it('A mail server that never answers does not stop the doctor', async () => {
    const port = await listening(createTcpServer(() => {}));
    expect(await look({ SMTP_URL: `smtp://127.0.0.1:${port}` })).toContain('messages.smtp fault');
  }, 30_000);
});

describe('foyer doctor on services by HTTP', () => {
  const key = 'SG.mail-pass-word-1';
  it.each<[string, number, unknown, string]>([
    ['a key that may send', 200, { scopes: ['mail.send', 'sender_verification_eligible'] }, 'ok'],
    ['a key without mail.send', 200, { scopes: ['alerts.read'] }, 'fault'],
    ['a wrong key', 401, { errors: [{ message: 'authorization required' }] }, 'fault'],
    ['a server error', 500, 'oops', 'fault'],
  ])('The SendGrid check gives the expected level for: %s', async (_what, status, body, level) => {
    const asked: string[] = [];
    const port = await http((req, res) => {
      asked.push(`${req.method} ${req.url} ${req.headers.authorization}`);
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const url = `http://127.0.0.1:${port}`;
    expect(await look({ SENDGRID_API_KEY: key, SENDGRID_URL: url })).toContain(`messages.sendgrid ${level}`);
    expect(asked).toEqual([`GET /v3/scopes Bearer ${key}`]);
  });

  it.each<[string, number, unknown, string]>([
    ['an active account', 200, { status: 'active' }, 'ok'],
    ['a suspended one', 200, { status: 'suspended' }, 'fault'],
    ['a wrong token', 401, { code: 20003 }, 'fault'],
    ['an unknown account', 404, {}, 'fault'],
  ])('The Twilio check gives the expected level for: %s', async (_what, status, body, level) => {
    const asked: string[] = [];
    const port = await http((req, res) => {
      asked.push(`${req.method} ${req.url} ${req.headers.authorization}`);
      const isSender = req.url?.includes('IncomingPhoneNumbers');
      const numbers = [{ phone_number: '+15557122661', capabilities: { voice: true, sms: true } }];
      const answer = isSender ? { incoming_phone_numbers: numbers } : body;
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    const account = `AC${'1'.repeat(32)}`;
    const twilio = { TWILIO_ACCOUNT_SID: account, TWILIO_AUTH_TOKEN: password, TWILIO_FROM: '+15557122661' };
    const found = await look({ ...twilio, SMS_COUNTRIES: 'DE', TWILIO_URL: `http://127.0.0.1:${port}` });
    expect(found).toContain(`messages.twilio ${level}`);
    expect(asked[0]).toBe(`GET /2010-04-01/Accounts/${account}.json Basic ${btoa(`${account}:${password}`)}`);
    expect(asked).toHaveLength(level === 'ok' ? 2 : 1);
  });

  const number = (sms: boolean) => ({
    incoming_phone_numbers: [{ phone_number: '+15557122661', capabilities: { voice: true, sms } }],
  });
  const service = `MG${'2'.repeat(32)}`;
  it.each<[string, Record<string, string>, string, number, unknown, string]>([
    [
      'a number without text messages',
      {},
      '/IncomingPhoneNumbers.json?PhoneNumber=%2B15557122661',
      200,
      number(false),
      'fault',
    ],
    ['a number of another account', {}, '/IncomingPhoneNumbers.json?', 200, { incoming_phone_numbers: [] }, 'fault'],
    [
      'a short code',
      { TWILIO_FROM: '12345' },
      '/SMS/ShortCodes.json?ShortCode=12345',
      200,
      { short_codes: [{ short_code: '12345' }] },
      'ok',
    ],
    [
      'another account’s short code',
      { TWILIO_FROM: '12345' },
      '/SMS/ShortCodes.json?',
      200,
      { short_codes: [] },
      'fault',
    ],
    [
      'a messaging service',
      { TWILIO_MESSAGING_SERVICE_SID: service },
      `/v1/Services/${service}`,
      200,
      { sid: service },
      'ok',
    ],
    [
      'an unknown messaging service',
      { TWILIO_MESSAGING_SERVICE_SID: service },
      '/v1/Services/',
      404,
      { code: 20404 },
      'fault',
    ],
    ['a sender list that does not answer', {}, '/IncomingPhoneNumbers.json', 500, {}, 'fault'],
  ])('The Twilio check looks the sender up: %s', async (_what, variables, path, status, body, level) => {
    const account = `AC${'1'.repeat(32)}`;
    const asked: string[] = [];
    const port = await http((req, res) => {
      asked.push(req.url ?? '');
      const isAccount = req.url === `/2010-04-01/Accounts/${account}.json`;
      res.writeHead(isAccount ? 200 : status).end(JSON.stringify(isAccount ? { status: 'active' } : body));
    });
    const twilio = { TWILIO_ACCOUNT_SID: account, TWILIO_AUTH_TOKEN: password, TWILIO_FROM: '+15557122661' };
    const settings = { ...twilio, SMS_COUNTRIES: 'DE', TWILIO_URL: `http://127.0.0.1:${port}`, ...variables };
    expect(await look(settings)).toContain(`messages.twilio ${level}`);
    expect(asked[1]).toContain(path);
  });

  it('The name of a sender is listed nowhere, so the account alone is looked up', async () => {
    const asked: string[] = [];
    const port = await http((req, res) => {
      asked.push(req.url ?? '');
      res.end(JSON.stringify({ status: 'active' }));
    });
    const twilio = { TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`, TWILIO_AUTH_TOKEN: password, TWILIO_FROM: 'Acme' };
    const found = await look({ ...twilio, SMS_COUNTRIES: 'DE', TWILIO_URL: `http://127.0.0.1:${port}` });
    expect(found).toContain('messages.twilio ok');
    expect(asked).toHaveLength(1);
  });

  it('A service that redirects the credentials elsewhere gets no second request', async () => {
    let stolen = 0;
    const thief = await http((_req, res) => {
      stolen += 1;
      res.end('{}');
    });
    const port = await http((_req, res) => res.writeHead(302, { location: `http://127.0.0.1:${thief}/` }).end());
    const found = await look({ SENDGRID_API_KEY: key, SENDGRID_URL: `http://127.0.0.1:${port}` });
    expect(found).toContain('messages.sendgrid fault');
    expect(stolen).toBe(0);
  });
});

describe('foyer doctor on the domain of MAIL_FROM', () => {
  const away = { SMTP_URL: 'smtp://127.0.0.1:9' };
  const { 'example.com': _, ...withoutSpf } = goodZone;
  const { 's1._domainkey.example.com': __, ...withoutDkim } = goodZone;
  const { '_dmarc.example.com': ___, ...withoutDmarc } = goodZone;
  it.each<[string, Record<string, string[]>, string]>([
    ['no SPF', withoutSpf, 'messages.spf warning'],
    ['two SPF records', { ...goodZone, 'example.com': ['v=spf1 -all', 'v=spf1 a -all'] }, 'messages.spf warning'],
    ['an SPF look-alike', { ...goodZone, 'example.com': ['v=spf10 -all'] }, 'messages.spf warning'],
    ['no DKIM key', withoutDkim, 'messages.dkim note'],
    ['a revoked DKIM key', { ...goodZone, 's1._domainkey.example.com': ['v=DKIM1; p='] }, 'messages.dkim note'],
    ['no DMARC', withoutDmarc, 'messages.dmarc warning'],
  ])('A mail domain with %s gives a finding', async (_what, records, expected) =>
    expect(await look(away, records)).toContain(expected),
  );

  it('A DMARC record of the organization counts for a subdomain (RFC 7489, section 6.6.3)', async () => {
    const records = { ...goodZone, 'mail.example.com': ['v=spf1 -all'], 's2._domainkey.mail.example.com': ['p=MIGf'] };
    expect(await look({ ...away, MAIL_FROM: 'no-reply@mail.example.com' }, records)).toEqual(
      [...sender, 'messages.smtp fault'].sort(),
    );
  });

  it('Names that cannot be resolved are a note, and the doctor reports nothing about the records', async () => {
    const resolveTxt = async () => {
      throw Object.assign(new Error('queryTxt ECONNREFUSED'), { code: 'ECONNREFUSED' });
    };
    const findings = await checkMessages(readSetup({ ...production, ...away }, Date.now, { resolveTxt }));
    expect(findings.map(({ id }) => id).sort()).toEqual(['messages.dns', 'messages.smtp']);
  });

  it('The doctor looks nothing up in development, and the sandbox sends nothing', async () => {
    const resolveTxt = () => Promise.reject(new Error('looked up'));
    const setup = readSetup({ NODE_ENV: 'development', MAIL_FROM: 'a@example.com' }, Date.now, { resolveTxt });
    expect((await checkMessages(setup)).map(({ id }) => id)).toEqual(['messages.sandbox']);
  });
});
