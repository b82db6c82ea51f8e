import { inspectConfig, loadConfig } from '../../config/load.ts';
import { listIneffective, proxyFor } from '../../config/outgoing-proxy.ts';
import { createRedactor, listSecrets } from '../../config/redact.ts';
import { production } from '../attacks/production.ts';

const https = 'http://secure.example:3128';
const http = 'http://plain.example:3128';

describe('the proxy for an outgoing call', () => {
  it.each<[string, Record<string, string>, string, string | undefined]>([
    ['https by HTTPS_PROXY', { HTTPS_PROXY: https, HTTP_PROXY: http }, 'https://api.example', https],
    ['http by HTTP_PROXY', { HTTPS_PROXY: https, HTTP_PROXY: http }, 'http://api.example', http],
    ['mails by HTTPS_PROXY', { HTTPS_PROXY: https, HTTP_PROXY: http }, 'smtp://u:p@mail.example', https],
    ['mails over TLS by HTTPS_PROXY', { HTTPS_PROXY: https }, 'smtps://mail.example:465', https],
    ['http without HTTP_PROXY', { HTTPS_PROXY: https }, 'http://api.example', undefined],
    ['https without HTTPS_PROXY', { HTTP_PROXY: http }, 'https://api.example', http],
    ['no proxy at all', {}, 'https://api.example', undefined],
    ['a host of NO_PROXY', { HTTPS_PROXY: https, NO_PROXY: 'x.example,api.example' }, 'https://API.example', undefined],
    ['a subdomain of it', { HTTPS_PROXY: https, NO_PROXY: 'example' }, 'https://api.example', undefined],
    ['with a dot', { HTTPS_PROXY: https, NO_PROXY: '.example' }, 'https://api.example', undefined],
    ['with an asterisk', { HTTPS_PROXY: https, NO_PROXY: '*.example' }, 'https://api.example', undefined],
    ['a name that only ends alike', { HTTPS_PROXY: https, NO_PROXY: 'pi.example' }, 'https://api.example', https],
    ['its port', { HTTPS_PROXY: https, NO_PROXY: 'api.example:443' }, 'https://api.example', undefined],
    ['another port', { HTTPS_PROXY: https, NO_PROXY: 'api.example:8443' }, 'https://api.example', https],
    ['everything', { HTTPS_PROXY: https, NO_PROXY: 'x.example *' }, 'https://api.example', undefined],
    ['an address of IPv6', { HTTPS_PROXY: https, NO_PROXY: '2001:db8::1' }, 'https://[2001:db8::1]/', undefined],
    ['a network, which has no effect', { HTTPS_PROXY: https, NO_PROXY: '10.0.0.0/8' }, 'https://10.1.2.3', https],
    ['this machine', { HTTPS_PROXY: https, HTTP_PROXY: http }, 'http://127.0.0.1:3001', undefined],
    ['this machine by IPv6', { HTTPS_PROXY: https }, 'https://[::1]:3001', undefined],
  ])('The call goes by the expected proxy: %s', (_name, settings, address, expected) => {
    expect(proxyFor(settings, address)).toBe(expected);
  });

  it('Only networks and ranges of NO_PROXY are listed as without effect', () => {
    const NO_PROXY = 'a.example, 10.0.0.0/8,192.0.2.1-192.0.2.9 .b-c.example,::1';
    expect(listIneffective({ NO_PROXY })).toEqual(['10.0.0.0/8', '192.0.2.1-192.0.2.9']);
  });
});

describe('the variables of the proxy', () => {
  it('The names in small letters count, and more than the others, as for Node.js', () => {
    const config = loadConfig({ ...production, HTTPS_PROXY: http, https_proxy: https, no_proxy: 'a.example' });
    expect([config.HTTPS_PROXY, config.NO_PROXY, config.HTTP_PROXY]).toEqual([https, 'a.example', undefined]);
  });

  it.each(['proxy.example:3128', 'socks5://proxy.example', 'http://proxy.example/path', 'http://'])(
    'The value %s of HTTPS_PROXY is refused with a remedy',
    (HTTPS_PROXY) => {
      expect(inspectConfig({ ...production, HTTPS_PROXY }).faults).toEqual([
        expect.stringMatching(/^HTTPS_PROXY: write http:\/\/proxy\.example\.com:3128/),
      ]);
    },
  );

  it('The password of a proxy is in no text', () => {
    const environment = { https_proxy: 'http://me:s%40cret-word@proxy.example:3128' };
    const redact = createRedactor(listSecrets(environment, []));
    expect(redact(new Error('proxy refused s@cret-word and s%40cret-word'))).toBe('proxy refused *** and ***');
  });
});
