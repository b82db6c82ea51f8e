import { password } from '../support/foyer.ts';
import { isClear, json, oddValues, openScene, type Scene, shown, strictest } from './bad-input.ts';
import { send } from './wire.ts';

describe.each(strictest())('bad addresses and headers on $name', (backend) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(backend);
  });
  afterAll(() => scene?.foyer.close());

  it('GET of every page with odd queries never causes a server error', async () => {
    const authorize = new URL((await scene.app.begin()).url).searchParams;
    const more = [
      ...[
        'response_mode',
        'claims',
        'request',
        'request_uri',
        'registration',
        'resource',
        'display',
        'prompt',
        'max_age',
      ],
      ...['id_token_hint', 'login_hint', 'ui_locales', 'acr_values', 'authorization_details', 'dpop_jkt', '__proto__'],
    ];
    const pages: [path: string, usual: URLSearchParams, names: string[]][] = [
      ['/', new URLSearchParams(), ['authorization_code', 'redirect', 'state', 'forceAuth', '__proto__']],
      ['/tos', new URLSearchParams(), ['redirect', 'authorization_code']],
      ['/verify-user', new URLSearchParams(), ['authorization_code']],
      ['/consent', new URLSearchParams(), ['authorization_code']],
      ['/logout', new URLSearchParams(), ['client_id', 'logout_uri', 'state']],
      ['/oauth2/authorize', authorize, [...authorize.keys(), ...more]],
      ['/oauth2/logout', new URLSearchParams(), ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state']],
      ['/oauth2/device', new URLSearchParams(), ['user_code']],
      ['/nowhere', new URLSearchParams(), ['anything']],
    ];
    const raw = ['%', '%E0%A4%A', '%ED%A0%80', '%FF', 'a%00', encodeURIComponent(`\u202e${'x'.repeat(6_000)}`)];
    for (const [path, usual, names] of pages) {
      const queries = names.flatMap((name) => {
        const others = new URLSearchParams(usual);
        others.delete(name);
        const given = [
          ...raw,
          ...oddValues.map(([, value]) => encodeURIComponent(value.toWellFormed().slice(0, 6_000))),
        ];
        const one = [...given.map((value) => `${name}=${value}`), `${name}=a&${name}=b`, `${name}[]=a`, name];
        return one.map((text) => `${others}&${text}`);
      });
      queries.push('&'.repeat(3_000), 'a&'.repeat(3_000), '%', '?', '=');
      const failed: string[] = [];
      const sender = path.includes('logout') ? '' : scene.cookie;
      for (let from = 0; from < queries.length; from += 40) {
        const some = queries.slice(from, from + 40);
        const answers = await Promise.all(
          some.map((query) =>
            send(scene.port, `${path}?${query}`, {
              headers: { host: scene.host, cookie: sender, accept: 'text/html' },
            }),
          ),
        );
        answers.forEach((answer, at) => {
          const to = new URL(String(answer.headers.location ?? ''), scene.foyer.url);
          const home = `${to.origin}${to.pathname}` === scene.app.redirectUri;
          const redirected = answer.status === 303 && (to.origin === scene.foyer.url || home);
          if (!isClear(answer) && answer.status !== 200 && !redirected) {
            failed.push(`${some[at]?.slice(-60)}: ${shown(answer)}`);
          }
          if (answer.text.includes('<script>alert')) failed.push(`${some[at]}: markup`);
        });
      }
      expect([path, failed]).toEqual([path, []]);
    }
  });

  it('Attack: an address of thousands of parameters is refused before the time for reading it grows with their square', async () => {
    const { search } = new URL((await scene.app.begin()).url);
    const { port, host } = scene;
    for (const path of ['/oauth2/authorize', '/oauth2/authorize/', '/oauth2/authorize/x', '/oauth2/logout']) {
      const spent = async (more: string) => {
        const from = process.cpuUsage();
        const { status } = await send(port, `${path}${search}${more}`, { headers: { host } });
        return { status, ms: process.cpuUsage(from).user / 1_000 };
      };
      const usual = await spent('&a'.repeat(80));
      const many = [await spent('&a'.repeat(7_000)), await spent('&a'.repeat(7_000))];
      expect([path, ...many.map(({ status }) => status)]).toEqual([path, 400, 400]);
      expect(usual.status).toBe(303);
      // The square takes 500 ms and more.
      expect(Math.min(...many.map(({ ms }) => ms))).toBeLessThan(150);
    }
  });

  it('Unknown paths get a 4xx status, and no file outside the client’s files is served', async () => {
    const paths = [
      '/%',
      '/%E0%A4%A',
      '/%00',
      '/%FF',
      '/\u00e9'.normalize(),
      '/;',
      '/.',
      '//',
      '///evil.example',
      '/\\',
      '/a\\b',
      `/${'a'.repeat(8_000)}`,
      `/${'a/'.repeat(4_000)}`,
      '/.env',
      '/.git/config',
      '/server/main.ts',
      '/assets/',
      '/assets/..',
      '/assets/../package.json',
      '/assets/..%2fpackage.json',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets/..%5c..%5cpackage.json',
      '/assets/....//package.json',
      '/assets/%00',
      '/assets/%E0%A4%A',
      '/assets/.foyer-build',
      '/assets/manifest.json%00.js',
      '/oauth2',
      '/oauth2/',
      '/oauth2/authorize/%E0%A4%A',
      '/oauth2/authorize/%00',
      `/oauth2/authorize/${'a'.repeat(5_000)}`,
      '/oauth2/authorize/__proto__',
      '/oauth2/authorize/a/b',
      '/oauth2/par',
      '/oauth2/register',
      '/oauth2/devices',
      '/oauth2/device_authorization',
      '/oauth2/logout/confirm',
      '/oauth2/logout/success',
      '/OAUTH2/authorize',
      '/Sign-In',
      '/tos/',
      '/.well-known/',
      '/.well-known/openid-configuration/',
      '/interaction/abc',
    ];
    for (const path of paths) {
      for (const accept of ['text/html', json]) {
        const answer = await send(scene.port, encodeURI(path).replaceAll('%25', '%').replaceAll('%5C', '\\'), {
          headers: { host: scene.host, cookie: scene.cookie, accept },
        });
        // Another spelling of a page leads to the page.
        const isSpelling = ['/Sign-In', '/tos/'].includes(path) && answer.status === 308;
        const redirected = isSpelling || (path === '//' && answer.status === 303);
        expect([path.slice(0, 60), isClear(answer) || redirected ? 'clear' : shown(answer)]).toEqual([
          path.slice(0, 60),
          'clear',
        ]);
      }
    }
  });

  it('Garbage in cookies has the same effect as no cookie', async () => {
    const names = scene.cookie.split('; ').map((pair) => pair.split('=')[0] ?? '');
    const values = [
      '',
      '%',
      '%E0%A4%A',
      's%3Aa.b',
      'j%3A%7B%7D',
      '"',
      '__proto__',
      '~~~...',
      'a'.repeat(3_000),
      '\u00ff',
    ];
    const failed: string[] = [];
    for (const name of new Set([...names, '__proto__', 'foyer_op_resume', 'foyer_lang', ''])) {
      await Promise.all(
        values.map(async (value) => {
          const bad = { host: scene.host, cookie: `${name}=${value}; ${name}=${value}; =; ;`, accept: 'text/html' };
          const landing = await send(scene.port, '/', { headers: bad });
          if (landing.status !== 200) failed.push(`${name}=${value.slice(0, 20)}: / ${shown(landing)}`);
          const resume = await send(scene.port, '/oauth2/authorize/abc', { headers: bad });
          if (!isClear(resume)) failed.push(`${name}=${value.slice(0, 20)}: resume ${shown(resume)}`);
        }),
      );
    }
    expect(failed).toEqual([]);
  });

  it('Garbage in headers never causes a server error', async () => {
    const values = ['', ',;q=', 'x'.repeat(4_000), '\u00ff\u00fe', '%"(', '../../etc', 'Bearer \u00ff', 'Basic Og=='];
    const headers = [
      ...['accept', 'accept-language', 'accept-encoding', 'authorization', 'referer', 'origin', 'sec-fetch-site'],
      ...['content-type', 'if-none-match', 'range', 'user-agent', 'te', 'sec-purpose', 'dpop', 'content-encoding'],
    ];
    const failed: string[] = [];
    for (const path of ['/', '/oauth2/userInfo', '/.well-known/openid-configuration']) {
      for (const header of headers) {
        await Promise.all(
          values.map(async (value) => {
            const answer = await send(scene.port, path, {
              headers: { host: scene.host, accept: 'text/html', [header]: value },
            });
            if (answer.status >= 500) failed.push(`${path} ${header}: ${value.slice(0, 20)}: ${shown(answer)}`);
          }),
        );
      }
    }
    expect(failed).toEqual([]);
  });

  it('No bad request leaves an error-level line in the log', () => {
    expect(scene.foyer.logged()).not.toContain('"level":50');
    expect(scene.foyer.logged()).not.toContain(password);
  });
});
