import { createSocket } from 'node:dgram';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { checkMessages, textRecords } from '../../server/cli/doctor/messages.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { production } from '../attacks/production.ts';
import { startSmtp } from '../messages/stand-in-smtp.ts';
import { makeCertificate } from '../support/certificate.ts';
import { cliOn } from '../support/cli.ts';
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
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const account = `AC${'1'.repeat(32)}`;
    const twilio = { TWILIO_ACCOUNT_SID: account, TWILIO_AUTH_TOKEN: password, TWILIO_FROM: '+15557122661' };
    const found = await look({ ...twilio, SMS_COUNTRIES: 'DE', TWILIO_URL: `http://127.0.0.1:${port}` });
    expect(found).toContain(`messages.twilio ${level}`);
    expect(asked).toEqual([`GET /2010-04-01/Accounts/${account}.json Basic ${btoa(`${account}:${password}`)}`]);
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
