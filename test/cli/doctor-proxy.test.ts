import { production } from '../attacks/production.ts';
import { cliOn } from '../support/cli.ts';
import { examine } from '../support/doctor.ts';
import { startFoyer } from '../support/foyer.ts';
import { goodHeaders, type ReverseProxy } from '../support/reverse-proxy.ts';
import { anyBackend } from '../support/stores.ts';

import { complaintsOf, good, prepareProxiedFoyer } from './doctor-proxied-foyer.ts';

const { proxy, environment, look } = prepareProxiedFoyer();

describe('the headers of the proxy', () => {
  const forwarded = (change: (headers: Record<string, unknown>, client: string) => void): ReverseProxy['toServer'] => {
    return (headers, client) => {
      const changed = { ...goodHeaders(headers, client) };
      change(changed, client);
      return changed;
    };
  };

  it.each<[string, ReverseProxy['toServer'], string[]]>([
    [
      'another Host',
      forwarded((headers) => {
        headers.host = 'foyer.internal:3000';
      }),
      ['address.issuer fault', 'proxy.host fault'],
    ],
    [
      'no protocol',
      forwarded((headers) => {
        delete headers['x-forwarded-proto'];
      }),
      ['proxy.protocol warning'],
    ],
    [
      'no client',
      forwarded((headers) => {
        delete headers['x-forwarded-for'];
      }),
      ['proxy.client fault'],
    ],
    ['the client’s own headers, untouched', (headers) => headers, ['proxy.protocol warning', 'proxy.client fault']],
  ])('A proxy that sends %s gives a finding', async (_what, toServer, complaints) => {
    proxy().toServer = toServer;
    const found = await look();
    expect(complaintsOf(found)).toEqual(complaints);
    expect(found.code).toBe(complaints.some((text) => text.endsWith('fault')) ? 4 : 0);
  });

  it('A chain of proxies that each append gives no complaint, because the client’s own claim is first and is not trusted', async () => {
    proxy().toServer = (headers, client) => ({
      ...goodHeaders(headers, client),
      'x-forwarded-for': `${headers['x-forwarded-for']}, ${client}`,
    });
    expect(complaintsOf(await look())).toEqual([]);
  });

  describe.each([
    ['2', 'too many', /claims in X-Forwarded-For/],
    ['10.9.8.7', 'another one', /which is a proxy|takes every member/],
  ])('TRUST_PROXY=%s', (trust, what, said) => {
    it(`A TRUST_PROXY value that trusts ${what} makes Foyer see a wrong client address`, async () => {
      const other = await startFoyer(anyBackend, { ...production, PUBLIC_URL: proxy().url, TRUST_PROXY: trust });
      try {
        proxy().target = other.url;
        proxy().toServer = (headers) => ({
          ...goodHeaders(headers, ''),
          'x-forwarded-for': `${headers['x-forwarded-for']}, 203.0.113.5`,
        });
        const found = await examine(
          cliOn(other.stores.urls, { ...environment(), TRUST_PROXY: trust }, undefined, {
            ca: good.cert,
            plainPort: proxy().plainPort,
          }),
        );
        expect(complaintsOf(found)).toContain('proxy.client fault');
        expect(found.of('proxy.client')[0]?.seen).toMatch(said);
      } finally {
        await other.close();
      }
    });
  });

  it('A server with another SECRET_KEY does not answer the probe', async () => {
    const found = await look({ environment: { SECRET_KEY: 'another secret key than that server has' } });
    expect(found.of('proxy.probe')).toMatchObject([{ level: 'warning' }]);
    expect(found.of('proxy.client')).toEqual([]);
  });

  it('A server that knows only the old key has not been restarted, which is a warning', async () => {
    const found = await look({
      environment: { SECRET_KEY: `a newer secret key: 0123456789 abc,${production.SECRET_KEY}` },
    });
    expect(found.of('proxy.probe')).toMatchObject([{ level: 'warning', seen: expect.stringContaining('first key') }]);
    expect(found.of('proxy.client')).toMatchObject([{ level: 'ok' }]);
  });
});
