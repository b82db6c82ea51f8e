import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { brandStylesheet } from '../../server/http/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

/** The pixels of a PNG as Foyer writes it: one part of data, no filter. */
function decodePng(png: Buffer) {
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const at = png.indexOf('IDAT');
  const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const data = (x: number, y: number) => [...rows.subarray(y * (1 + 3 * width) + 1 + 3 * x).subarray(0, 3)];
  return { info: { width, height }, data };
}

describe('the stylesheet of a brand', () => {
  const { path, css } = brandStylesheet('#6d28d9');

  it('The stylesheet is named after its content', () => {
    expect(path).toMatch(/^\/assets\/brand-[\w-]{8}\.css$/);
    expect(brandStylesheet('#6d28d9').path).toBe(path);
    expect(brandStylesheet('#6d28da').path).not.toBe(path);
  });

  it('The stylesheet changes only Foyer’s tokens, in both themes', () => {
    const own = readFileSync('client/styles/tokens.css', 'utf8');
    const names = [...css.matchAll(/--([\w-]+):(#[\da-f]{6})/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) expect(own).toContain(`--${name}:`);
    const [light, dark] = css.split('@media (prefers-color-scheme:dark)');
    expect(light).toContain('--accent:#6d28d9');
    expect(dark).toMatch(/--accent:#(?!6d28d9)/);
    expect(css.replaceAll(/--[\w-]+:#[\da-f]{6}/g, '').replaceAll(';', '')).toBe(
      ':root{}@media (prefers-color-scheme:dark){:root{}}\n',
    );
  });
});

describe('a Foyer with a brand', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, {
      BRAND_NAME: 'Maison & Söhne',
      BRAND_LOGO_URL: 'https://cdn.example.com/logo.svg?v=2',
      BRAND_ACCENT: '#6d28d9',
      MEDIA_URL: 'https://media.example.com/people/',
      MAIN_APP_URL: 'https://www.example.com/app/',
      USER_MANAGEMENT_URL: 'https://account.example.com',
      SEARCH_APP_URL: 'https://search.example.com/',
      APP_PATHS: 'wallet=/purse?from=foyer',
    });
  });
  afterAll(() => foyer?.close());
  const read = async (path: string, browser = foyer.browser()) => {
    const response = await browser.get(path);
    return { response, html: await response.text() };
  };

  it('A page links a web manifest with the brand’s name and an icon in its color, both immutable and allowed', async () => {
    const { response, html } = await read('/');
    expect(response.headers.get('content-security-policy')).toContain("manifest-src 'self'");
    const linked = (rel: string) => new RegExp(`<link rel="${rel}" href="([^"]+)"`).exec(html)?.[1] ?? '';
    const manifest = await foyer.browser().get(linked('manifest'));
    expect(manifest.headers.get('content-type')).toMatch(/^application\/manifest\+json/);
    expect(manifest.headers.get('cache-control')).toContain('immutable');
    const touchIcon = linked('apple-touch-icon');
    expect(await manifest.json()).toMatchObject({
      name: 'Maison & Söhne',
      start_url: '/',
      icons: [{ type: 'image/svg+xml' }, { src: touchIcon, sizes: '180x180', type: 'image/png' }],
    });
    const icon = await foyer.browser().get(touchIcon);
    expect(icon.headers.get('content-type')).toBe('image/png');
    expect(icon.headers.get('cache-control')).toContain('immutable');
    const { data, info } = decodePng(Buffer.from(await icon.arrayBuffer()));
    expect(info).toEqual({ width: 180, height: 180 });
    // The brand's color at the edge, the sign in the middle.
    expect(data(0, 0)).toEqual([0x6d, 0x28, 0xd9]);
    expect(data(90, 120)).toEqual([0xe0, 0xa4, 0x58]);
    expect((await foyer.browser().post(touchIcon)).status).not.toBe(200);
  });

  it('A page links the brand’s stylesheet last, and the stylesheet is served as immutable', async () => {
    const { html } = await read('/');
    const styles = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href ?? '');
    // The sandbox's own stands between them.
    expect(styles).toEqual([
      expect.stringMatching(/foyer-/),
      expect.stringMatching(/sandbox-/),
      brandStylesheet('#6d28d9').path,
    ]);
    const { response, html: css } = await read(styles.at(-1) ?? '');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/css/);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(css).toBe(brandStylesheet('#6d28d9').css);
    expect((await read('/assets/brand-00000000.css')).response.status).toBe(404);
  });

  it('Pages show name and logo, and the policy allows pictures from those two hosts alone', async () => {
    const { response, html } = await read('/tos');
    expect(html).toContain('<title>Terms of Service · Maison &amp; Söhne</title>');
    expect(html).toContain('<img src="https://cdn.example.com/logo.svg?v=2" alt="" height="28"/>');
    expect(response.headers.get('content-security-policy')).toContain(
      "img-src 'self' data: https://cdn.example.com https://media.example.com;",
    );
  });

  it('Header, profile menu and side rows link the configured apps', async () => {
    const visitor = await read('/tos');
    expect(visitor.html).toContain('<a href="https://search.example.com/">Search</a>');
    expect(visitor.html).toContain('<a href="/">Sign in</a>');
    expect(visitor.html).toContain('<a href="/signup">Sign up</a>');
    const { html } = await read('/tos', await foyer.signedIn(await foyer.addUser()));
    const links = [...html.matchAll(/<a [^>]*href="(https:[^"]*)"/g)].map(([, href]) => href);
    expect(links).toEqual([
      'https://www.example.com/app/dashboard',
      'https://search.example.com/',
      'https://www.example.com/app/showcase-pages',
      'https://www.example.com/app/shortlist',
      'https://account.example.com/profile',
      'https://account.example.com/purse?from=foyer',
      'https://account.example.com/teams',
      'https://account.example.com/membership',
      'https://account.example.com/payment-methods',
    ]);
    expect(html).not.toContain('>Sign in<');
    expect(html).toMatch(/<form action="\/logout" method="post"><button type="submit">Sign out<\/button><\/form>/);
  });

  it.each([
    ['vera.jpg', 'https://media.example.com/people/vera.jpg'],
    ['https://media.example.com/vera.jpg', 'https://media.example.com/vera.jpg'],
  ])('A page shows the picture %s of the user', async (picture, address) => {
    const user = await foyer.addUser({ givenName: 'Élodie', familyName: '𝒵ed' });
    await foyer.deps.database.db.updateTable('users').set({ picture }).where('id', '=', user.id).execute();
    const { html } = await read('/tos', await foyer.signedIn(user));
    expect(html).toContain(`<span>É𝒵</span><img src="${address}" alt=""/>`);
  });

  it.each([
    'https://evil.example/track.gif',
    'javascript:alert(1)',
    '//evil.example/x.png',
    'data:image/png;base64,AA',
  ])('A picture elsewhere (%s) is not loaded, and the initials are shown', async (picture) => {
    const user = await foyer.addUser();
    await foyer.deps.database.db.updateTable('users').set({ picture }).where('id', '=', user.id).execute();
    const { html } = await read('/tos', await foyer.signedIn(user));
    expect(html).toContain('<span>AM</span></span>');
    expect(html).not.toContain(picture);
  });
});

describe('a Foyer without a brand', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { SANDBOX: 'false', SEARCH_APP_URL: 'https://search.example.com/' });
  });
  afterAll(() => foyer?.close());

  it('A page links only pages that exist', async () => {
    const visitor = await foyer.signedIn(await foyer.addUser());
    const html = await (await visitor.get('/tos')).text();
    const links = [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href);
    expect(links).toEqual([
      '#content',
      '/',
      // The bell.
      '/settings/notifications',
      '/dashboard',
      'https://search.example.com/',
      '/settings',
      '/settings/notifications',
      '/tos',
      '/imprint',
      '/accessibility',
    ]);
    expect(html.match(/<link rel="stylesheet"/g)).toHaveLength(1);
  });
});
