import { createServer } from 'node:net';
import { production } from '../attacks/production.ts';
import { makeCertificate } from '../support/certificate.ts';
import { startFoyer } from '../support/foyer.ts';
import { freePort } from '../support/services.ts';
import { anyBackend } from '../support/stores.ts';

import { complaintsOf, dayMs, prepareProxiedFoyer } from './doctor-proxied-foyer.ts';

const { proxy, foyer, look } = prepareProxiedFoyer();

it('A correct installation gives no complaint and the exit code 0', async () => {
  const found = await look();
  expect({ complaints: complaintsOf(found), code: found.code }).toEqual({ complaints: [], code: 0 });
  for (const id of [
    'address.dns',
    'tls.expiry',
    'tls.chain',
    'address.redirect',
    'address.answer',
    'address.issuer',
    'address.hsts',
    'keys.published',
    'clock.public-url',
    'proxy.host',
    'proxy.protocol',
    'proxy.client',
  ]) {
    expect(found.of(id)).toHaveLength(1);
  }
});

describe('the certificate of PUBLIC_URL', () => {
  const from = Date.now() - 100 * dayMs;
  it.each([
    ['expired', makeCertificate(['localhost'], from, Date.now() - dayMs), 'tls.expiry fault', /expired at 20\d\d-/],
    [
      'expires soon',
      makeCertificate(['localhost'], from, Date.now() + 20.5 * dayMs),
      'tls.expiry warning',
      /in 20 days/,
    ],
    [
      'is not valid yet',
      makeCertificate(['localhost'], Date.now() + dayMs, Date.now() + 90 * dayMs),
      'tls.expiry fault',
      /not valid before/,
    ],
    [
      'is for another name',
      makeCertificate(['www.example.com'], from, Date.now() + 90 * dayMs),
      'tls.name fault',
      /not for localhost/,
    ],
  ])('A certificate that %s gives a finding', async (_what, certificate, complaint, said) => {
    proxy().present(certificate);
    const found = await look({ ca: certificate.cert });
    expect(complaintsOf(found)).toEqual([complaint]);
    expect(found.of(complaint.split(' ')[0] ?? '')[0]?.seen).toMatch(said);
    expect(found.code).toBe(complaint.endsWith('fault') ? 4 : 0);
  });

  it('A certificate of an unknown authority is a fault, and no probe is sent to that server', async () => {
    const found = await look({ ca: makeCertificate(['localhost'], from, Date.now() + dayMs).cert });
    expect(complaintsOf(found)).toEqual(['tls.chain fault']);
    expect(found.findings.filter(({ area }) => area === 'proxy')).toEqual([]);
  });

  it('A server without TLS at an https address is a fault', async () => {
    const plain = new URL(foyer().url).port;
    const found = await look({ environment: { PUBLIC_URL: `https://localhost:${plain}` } });
    expect(complaintsOf(found)).toContain('tls.chain fault');
  });
});

describe('the server that answers at PUBLIC_URL', () => {
  it('A host name that does not exist is a fault', async () => {
    const found = await look({ environment: { PUBLIC_URL: 'https://login.foyer.invalid' }, limitMs: 1_000 });
    expect(complaintsOf(found)).toContain('address.dns fault');
  });

  it('An address where nothing listens is a warning when no server runs on this machine', async () => {
    const port = await freePort();
    const found = await look({
      environment: { PUBLIC_URL: `https://localhost:${port}`, PORT: String(await freePort()) },
    });
    expect(complaintsOf(found)).toContain('address.answer warning');
    expect(found.of('address.answer')[0]).toMatchObject({
      seen: expect.stringContaining('ECONNREFUSED'),
      why: expect.stringContaining('not running'),
    });
    expect(found.code).toBe(0);
  });

  it('The finding for an address where nothing listens names a Foyer that runs on this machine', async () => {
    const found = await look({ environment: { PUBLIC_URL: `https://localhost:${await freePort()}` } });
    expect(found.of('address.answer')[0]?.why).toMatch(/A Foyer runs on this machine/);
  });

  it('A server that never answers ends in a finding after the time limit', async () => {
    const mute = createServer();
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as { port: number };
    try {
      const begun = Date.now();
      const found = await look({ environment: { PUBLIC_URL: `https://localhost:${port}` }, limitMs: 300 });
      expect(found.of('address.answer')[0]?.seen).toMatch(/no answer within 300 ms/);
      expect(Date.now() - begun).toBeLessThan(5_000);
    } finally {
      mute.close();
    }
  });

  it('A proxy that does not reach Foyer is a warning', async () => {
    proxy().target = `http://127.0.0.1:${await freePort()}`;
    const found = await look();
    expect(complaintsOf(found)).toEqual(['address.answer warning']);
    expect(found.of('address.answer')[0]?.seen).toMatch(/answers 502/);
  });

  it('A server at PUBLIC_URL that is not Foyer is a fault', async () => {
    proxy().target = `http://127.0.0.1:${proxy().plainPort}`;
    expect(complaintsOf(await look())).toEqual(['address.answer fault']);
  });

  it('A Foyer with other stores is a fault', async () => {
    const other = await startFoyer(anyBackend, { ...production, PUBLIC_URL: proxy().url });
    try {
      proxy().target = other.url;
      expect(complaintsOf(await look())).toEqual(['keys.published fault']);
    } finally {
      await other.close();
    }
  });

  it('A Foyer with another PUBLIC_URL is a fault', async () => {
    const other = await startFoyer(anyBackend, { ...production, PUBLIC_URL: 'https://elsewhere.example.com' });
    try {
      proxy().target = other.url;
      expect(complaintsOf(await look())).toContain('address.issuer fault');
    } finally {
      await other.close();
    }
  });

  it('A PUBLIC_URL with the same host in other case is not a complaint', async () => {
    const found = await look({ environment: { PUBLIC_URL: proxy().url.replace('localhost', 'LOCALHOST') } });
    // The same address, written otherwise.
    expect(complaintsOf(found)).toEqual([]);
  });
});

describe('HTTP redirect and HSTS', () => {
  it('An http:// address that serves pages instead of a redirect is a fault', async () => {
    proxy().plain = (_req, res) => res.end('welcome');
    expect(complaintsOf(await look())).toEqual(['address.redirect fault']);
  });

  it('An http:// address that redirects elsewhere is a warning', async () => {
    proxy().plain = (_req, res) => res.writeHead(302, { location: 'https://www.example.com/' }).end();
    expect(complaintsOf(await look())).toEqual(['address.redirect warning']);
  });

  it('A proxy that removes Strict-Transport-Security is a warning', async () => {
    proxy().toClient = ({ 'strict-transport-security': _gone, ...headers }) => headers;
    expect(complaintsOf(await look())).toEqual(['address.hsts warning']);
  });

  it('A proxy that shortens Strict-Transport-Security is a warning', async () => {
    proxy().toClient = (headers) => ({ ...headers, 'strict-transport-security': 'max-age=300' });
    expect(complaintsOf(await look())).toEqual(['address.hsts warning']);
  });

  it.each([
    [-40_000, 'fault'],
    [40_000, 'fault'],
    [-10_000, 'warning'],
    [10_000, 'warning'],
  ])('A clock of the server that is %d ms off gives a finding', async (offset, level) => {
    proxy().toClient = (headers) => ({ ...headers, date: new Date(Date.now() + offset).toUTCString() });
    const found = await look();
    expect(complaintsOf(found)).toEqual([`clock.public-url ${level}`]);
    expect(found.of('clock.public-url')[0]?.seen).toMatch(offset < 0 ? /behind/ : /ahead/);
  });
});
