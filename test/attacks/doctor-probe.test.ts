import { probeHeader, signProbe } from '../../server/http/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend, backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, send } from './wire.ts';

const key = production.SECRET_KEY;

describe.each(backends)('the probe of `foyer doctor` on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, production);
  });
  afterAll(() => foyer?.close());

  const ask = (probe: string | undefined, path = '/readyz', method = 'GET') =>
    send(portOf(foyer.url), path, {
      method,
      headers: {
        host: new URL(site).host,
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-proto': 'https',
        ...(probe !== undefined && { [probeHeader]: probe }),
      },
    });

  it('A genuine probe gets what the server sees and no secret', async () => {
    const { status, text, headers } = await ask(signProbe(key, site, Date.now()));
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(JSON.parse(text)).toEqual({
      seen: {
        host: 'login.example.com',
        peer: expect.stringContaining('127.0.0.1'),
        forwardedFor: '203.0.113.9',
        forwardedProto: 'https',
        forwardedHost: null,
        client: '203.0.113.9',
        protocol: 'https',
        process: process.pid,
        worker: null,
      },
    });
    expect(text).not.toContain(key);
  });

  const probe = () => signProbe(key, site, Date.now());
  const [time = '', nonce = '', mac = ''] = probe().split('.');
  const otherMac = signProbe(key, site, Date.now()).split('.')[2];
  it.each<[string, () => string]>([
    ['an empty text', () => ''],
    ['nonsense', () => 'probe'],
    ['a probe without a signature', () => `${time}.${nonce}.`],
    ['a probe of empty parts', () => '..'],
    ['a probe with the signature of another one', () => `${time}.${nonce}.${otherMac}`],
    ['a probe with a shortened signature', () => `${time}.${nonce}.${mac.slice(0, 22)}`],
    ['a probe with a lengthened signature', () => `${time}.${nonce}.${mac}AA`],
    ['a probe with another time', () => probe().replace(/^\d+/, String(Date.now() + 1))],
    ['a probe with another nonce', () => probe().replace(/\.[^.]+\./, `.${'A'.repeat(22)}.`)],
    ['a probe signed with a foreign key', () => signProbe('another secret key that is not of Foyer', site, Date.now())],
    ['a probe for another site with the same key', () => signProbe(key, 'https://other.example.com', Date.now())],
    ['a probe that is more than a minute old', () => signProbe(key, site, Date.now() - 61_000)],
    ['a probe from the future', () => signProbe(key, site, Date.now() + 62_000)],
    ['a probe whose time is no number', () => `NaN.${nonce}.${mac}`],
    ['two probes in one header', () => `${probe()}, ${probe()}`],
  ])('An invalid probe gets the answer of a request without a probe: %s', async (_what, forged) => {
    const plain = await ask(undefined);
    const answer = await ask(forged());
    expect({ status: answer.status, text: answer.text }).toEqual({ status: plain.status, text: plain.text });
    expect(answer.text).toBe('{"status":"ready","database":"answers","keyValue":"answers","schema":"current"}');
  });

  it('A probe is answered once, so that an attacker who overhears one learns nothing', async () => {
    const overheard = signProbe(key, site, Date.now());
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(overheard)));
    expect(answers.filter(({ text }) => text.includes('"seen"'))).toHaveLength(1);
    expect((await ask(overheard)).text).not.toContain('seen');
  });

  it('A probe that was kept unused is refused a minute later', async () => {
    const kept = signProbe(key, site, foyer.deps.now());
    foyer.passTime(61_000);
    expect((await ask(kept)).text).not.toContain('seen');
  });

  it('A probe has no effect on any other route', async () => {
    for (const path of ['/healthz', '/', '/api/me', '/oauth2/jwks']) {
      const now = () => signProbe(key, site, foyer.deps.now());
      expect((await ask(now(), path)).text).not.toContain('"seen"');
    }
    expect((await ask(signProbe(key, site, foyer.deps.now()), '/readyz', 'POST')).text).not.toContain('"seen"');
  });

  it('A probe appears in no line of the log', async () => {
    const logged = signProbe(key, site, foyer.deps.now());
    await ask(logged);
    expect(foyer.logged()).toContain('/readyz');
    expect(foyer.logged()).not.toContain(logged.split('.')[2]);
  });
});

describe('the probe while the short-lived store is away', () => {
  it('A probe is not answered while the store cannot record its use', async () => {
    const foyer = await startFoyer(anyBackend, production);
    try {
      await foyer.stores.kv.close();
      const answer = await send(portOf(foyer.url), '/readyz', {
        headers: { host: new URL(site).host, [probeHeader]: signProbe(key, site, Date.now()) },
      });
      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain('seen');
    } finally {
      await foyer.close();
    }
  });
});
