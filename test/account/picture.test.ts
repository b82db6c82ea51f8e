import { exportUserData, findUser, type User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { eachSignedInUser, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { jpegPicture, pngPicture, webpPicture } from '../support/pictures.ts';
import { anyBackend, backends } from '../support/stores.ts';

const path = '/settings/picture';

/** Sends a form with a file, as a browser does. */
async function upload(
  browser: Browser,
  file: Uint8Array<ArrayBuffer>,
  { origin, field = 'picture', name = 'me.png' }: { origin: string; field?: string; name?: string },
): Promise<Response> {
  const form = new FormData();
  form.append(field, new File([file], name));
  const packed = new Request(origin, { method: 'POST', body: form });
  const contentType = packed.headers.get('content-type') ?? '';
  return browser.request(path, {
    method: 'POST',
    body: new Uint8Array(await packed.arrayBuffer()),
    headers: { origin, 'sec-fetch-site': 'same-origin', 'content-type': contentType },
  });
}

describe.each(backends)('the picture of a user on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, {}, (setting) => {
    ({ foyer, user, browser } = setting);
  });
  const send = (file: Uint8Array<ArrayBuffer>, more = {}) => upload(browser, file, { origin: foyer.url, ...more });
  const shownPicture = async (page = '/settings') => {
    const html = await (await browser.get(page)).text();
    return /<img src="([^"]*\/media\/[^"]*)"/.exec(html)?.[1];
  };
  const countRows = async () =>
    (await foyer.deps.database.db.selectFrom('uploadedPictures').select('name').where('userId', '=', user.id).execute())
      .length;

  it('An uploaded picture is on the pages, in the claims and attributes, and in the export', async () => {
    expect(await shownPicture()).toBeUndefined();
    for (const [type, file] of [
      ['image/jpeg', jpegPicture],
      ['image/png', pngPicture],
      ['image/webp', webpPicture],
    ] as const) {
      const before = await shownPicture();
      const answer = await send(file);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings#settings:picture']);
      const address = (await shownPicture()) ?? '';
      expect(address).not.toBe(before);
      const picture = await foyer.browser().get(address);
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, type]);
      expect(picture.headers.get('content-security-policy')).toContain('sandbox');
      expect(picture.headers.get('x-content-type-options')).toBe('nosniff');
      const etag = picture.headers.get('etag') ?? '';
      expect((await foyer.browser().get(address, { headers: { 'if-none-match': etag } })).status).toBe(304);
      // The former one is gone.
      if (before !== undefined) expect((await foyer.browser().get(before)).status).toBe(404);
      expect(await countRows()).toBe(1);
      const stored = await findUser(foyer.deps.database.db, user.id);
      expect(stored?.picture).toBe(address);
      if (stored)
        expect(await exportUserData(foyer.deps.database.db, stored)).toMatchObject({ uploadedPicture: { type } });
    }
  });

  it('A removed picture is removed everywhere, also one of an identity provider', async () => {
    await send(pngPicture);
    const address = (await shownPicture()) ?? '';
    expect((await browser.post(path, { remove: '1' })).headers.get('location')).toBe('/settings#settings:picture');
    expect(await shownPicture()).toBeUndefined();
    expect((await foyer.browser().get(address)).status).toBe(404);
    expect((await findUser(foyer.deps.database.db, user.id))?.picture).toBeNull();
    expect(await countRows()).toBe(0);
    const db = foyer.deps.database.db;
    await db.updateTable('users').set({ picture: 'https://p.example/a.png' }).where('id', '=', user.id).execute();
    expect(await (await browser.get(path)).text()).toContain('Remove picture');
    await browser.post(path, { remove: '1' });
    expect((await findUser(db, user.id))?.picture).toBeNull();
  });

  it('Two pictures that are sent at once leave one', async () => {
    const answers = await Promise.all([send(pngPicture), send(jpegPicture), send(webpPicture)]);
    expect(answers.filter(({ status }) => status === 303).length).toBeGreaterThan(0);
    expect(answers.every(({ status }) => status === 303 || status === 503)).toBe(true);
    expect(await countRows()).toBe(1);
    expect((await foyer.browser().get((await shownPicture()) ?? '')).status).toBe(200);
  });
});

describe('uploads that are refused', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(anyBackend, {}, (setting) => {
    ({ foyer, user, browser } = setting);
  });
  const send = (file: Uint8Array<ArrayBuffer>, more = {}) => upload(browser, file, { origin: foyer.url, ...more });
  const shown = async (answer: Response) => {
    expect(answer.status).toBe(303);
    const page = await browser.get(answer.headers.get('location') ?? '');
    return { status: page.status, html: await page.text() };
  };

  it.each([
    ['a text', new TextEncoder().encode('<svg onload=alert(1)>'), 400, 'isn’t a JPEG, PNG or WebP picture'],
    ['no file', new Uint8Array(), 400, 'Choose a picture.'],
    ['a file of two megabytes', new Uint8Array(2_000_000), 413, 'larger than 1 MB'],
    ['a file a little over the limit', new Uint8Array(1_000_001), 413, 'larger than 1 MB'],
  ])('%s: the page says why', async (_name, file, status, text) => {
    const page = await shown(await send(file));
    expect([page.status, page.html.includes(text)]).toEqual([status, true]);
  });

  it('A form without a file, or with the file in another field, asks for one', async () => {
    expect((await shown(await browser.submit(path, {}))).html).toContain('Choose a picture.');
    expect((await shown(await send(pngPicture, { field: 'else' }))).html).toContain('Choose a picture.');
  });

  it('Attack: a broken form, a form of thousands of parts and a file name with a path store nothing or the picture alone', async () => {
    const headers = { origin: foyer.url, 'sec-fetch-site': 'same-origin' };
    const types = ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=x'];
    for (const type of types) {
      const answer = await browser.request(path, {
        method: 'POST',
        body: '--x\r\nno header',
        headers: { ...headers, 'content-type': type },
      });
      expect([type, answer.status]).toEqual([type, 400]);
    }
    const many = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(15_000);
    const before = performance.now();
    const answer = await browser.request(path, {
      method: 'POST',
      body: `${many}--x--\r\n`,
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect((await shown(answer)).html).toContain('Choose a picture.');
    expect(performance.now() - before).toBeLessThan(5_000);
    expect((await send(pngPicture, { name: '../../foyer.db' })).headers.get('location')).toContain('#settings:picture');
  });

  it('Attack: a site of others, and a stranger, upload nothing', async () => {
    expect((await upload(browser, pngPicture, { origin: 'https://evil.example' })).status).toBe(403);
    const stranger = await upload(foyer.browser(), pngPicture, { origin: foyer.url });
    expect(stranger.headers.get('location')).toMatch(/^\/\?/);
    expect((await findUser(foyer.deps.database.db, user.id))?.picture).toBeNull();
  });

  it('Attack: the twenty-first picture of an hour is refused, before it is read', async () => {
    for (let count = 0; count < 20; count += 1) expect((await send(pngPicture)).status).toBe(303);
    const answer = await send(pngPicture);
    const page = await shown(answer);
    expect([page.status, page.html.includes('very often')]).toEqual([429, true]);
  });

  it('Attack: no other form takes a file', async () => {
    const form = new FormData();
    form.append('given_name', 'X');
    const packed = new Request(foyer.url, { method: 'POST', body: form });
    const answer = await browser.request('/settings/name', {
      method: 'POST',
      body: new Uint8Array(await packed.arrayBuffer()),
      headers: {
        origin: foyer.url,
        'sec-fetch-site': 'same-origin',
        'content-type': packed.headers.get('content-type') ?? '',
      },
    });
    expect(answer.status).toBe(415);
  });
});

describe('pictures at another address (MEDIA_URL)', () => {
  it('Foyer takes no uploads, and links to none', async () => {
    const foyer = await startFoyer(anyBackend, { MEDIA_URL: 'https://media.example.com/' });
    try {
      const browser = await foyer.signedIn(await foyer.addUser());
      expect((await browser.get(path)).status).toBe(404);
      expect(await (await browser.get('/settings')).text()).not.toContain(path);
    } finally {
      await foyer.close();
    }
  });
});
