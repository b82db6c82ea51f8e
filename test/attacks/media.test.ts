import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { safePathParts, toImageType } from '../../server/http/media-files.ts';
import { updateUserRecord } from '../../server/users/index.ts';
import { toPageUser } from '../../server/users/page-user.ts';
import { insertUserRecord } from '../../server/users/user-record-store.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const html = '<!doctype html><script>alert(1)</script>';

let foyer: TestFoyer;
let outside: string;
let dir: string;
beforeAll(async () => {
  outside = mkdtempSync(join(tmpdir(), 'foyer-media-'));
  dir = join(outside, 'media');
  mkdirSync(join(dir, 'people'), { recursive: true });
  foyer = await startFoyer(anyBackend, { MEDIA_DIR: dir });
});
afterAll(async () => {
  await foyer?.close();
  rmSync(outside, { recursive: true, force: true });
});

const put = (name: string, content: string | Buffer) => writeFileSync(join(dir, name), content);
const get = (path: string, headers: Record<string, string> = {}) => foyer.browser().get(path, { headers });
/** Sends the path exactly as written: `fetch` would normalise it. */
const raw = (path: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const { port } = new URL(foyer.url);
    const sent = request({ host: '127.0.0.1', port, path, headers: { host: `localhost:${port}` } }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
    });
    sent.on('error', reject).end();
  });

describe('pictures from MEDIA_DIR', () => {
  it('A picture is served with the type of its content, and the browser may run nothing in it', async () => {
    put('people/vera 1.jpeg', png);
    const answer = await get('/media/people/vera%201.jpeg');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(png);
    expect(answer.headers.getSetCookie()).toEqual([]);
    const etag = answer.headers.get('etag') ?? '';
    expect((await get('/media/people/vera%201.jpeg', { 'if-none-match': etag })).status).toBe(304);
    const head = await foyer.browser().request('/media/people/vera%201.jpeg', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(png.length)]);
    expect((await foyer.browser().post('/media/people/vera%201.jpeg')).status).toBe(405);
  });

  it('A page, an SVG or an empty file is not served, whatever its name says', async () => {
    for (const [name, content] of [
      ['page.html', html],
      ['page.png', html],
      ['drawing.svg', svg],
      ['drawing.png', svg],
      ['late.png', ` ${png.toString('latin1')}`],
      ['empty.png', ''],
      ['key.pem', '-----BEGIN PRIVATE KEY-----'],
    ] as const) {
      put(name, content);
      const answer = await get(`/media/${name}`);
      expect([name, answer.status]).toEqual([name, 404]);
      expect(await answer.text()).toBe('Not Found');
    }
  });

  it('A picture that also contains a page is served as a picture', async () => {
    put('both.html', Buffer.concat([Buffer.from('GIF89a'), Buffer.from(html)]));
    const answer = await get('/media/both.html');
    expect(answer.headers.get('content-type')).toBe('image/gif');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'; sandbox/);
  });

  it('No file outside the folder is served', async () => {
    writeFileSync(join(outside, 'secret.png'), png);
    writeFileSync(join(dir, '.hidden.png'), png);
    for (const path of [
      '/media/../secret.png',
      '/media/%2e%2e/secret.png',
      '/media/..%2fsecret.png',
      '/media/people/../../secret.png',
      '/media/people/..%5c..%5csecret.png',
      '/media/%252e%252e/secret.png',
      '/media/..;/secret.png',
      `/media/${join(outside, 'secret.png')}`,
      `/media//${join(outside, 'secret.png')}`,
      '/media/people/vera%201.jpeg%00.png',
      '/media/.hidden.png',
      '/media/%E0%A4%A',
      '/media/',
      '/media/people',
      '/media/people/',
      `/media/${'a/'.repeat(500)}b.png`,
    ]) {
      const { status, body } = await raw(path);
      expect([path, [400, 404].includes(status)]).toEqual([path, true]);
      expect(body).not.toContain('PNG');
    }
  });

  it('A link to a file or a folder is not served, even when it leads to a picture, and neither is a pipe', async () => {
    writeFileSync(join(outside, 'secret.png'), png);
    mkdirSync(join(outside, 'others'));
    writeFileSync(join(outside, 'others', 'a.png'), png);
    symlinkSync(join(outside, 'secret.png'), join(dir, 'link.png'));
    symlinkSync(join(outside, 'others'), join(dir, 'others'));
    symlinkSync('people', join(dir, 'inside'));
    execFileSync('mkfifo', [join(dir, 'pipe.png')]);
    for (const path of ['link.png', 'others/a.png', 'inside/vera%201.jpeg', 'pipe.png']) {
      expect([path, (await get(`/media/${path}`)).status]).toEqual([path, 404]);
    }
    linkSync(join(dir, 'people', 'vera 1.jpeg'), join(dir, 'same.png'));
    expect((await get('/media/same.png')).status).toBe(200);
  });

  it('Only safe names and known image types are accepted', () => {
    expect(safePathParts('/a/B_2.png')).toEqual(['a', 'B_2.png']);
    expect(safePathParts('/Gr%C3%BC%C3%9Fe.png')).toEqual(['Grüße.png']);
    for (const path of ['', '/', 'a.png', '/a//b.png', '/a/./b', '/-a.png', '/a\\b.png', '/a%0a.png', '/a:b.png']) {
      expect([path, safePathParts(path)]).toEqual([path, undefined]);
    }
    expect(toImageType(Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toBe('image/jpeg');
    expect(toImageType(Buffer.from('RIFF\0\0\0\0WEBPVP8 '))).toBe('image/webp');
    expect(toImageType(Buffer.from('\0\0\0 ftypavif'))).toBe('image/avif');
    expect(toImageType(Buffer.from('RIFF\0\0\0\0WAVEfmt '))).toBeUndefined();
  });
});

describe('the picture in the page header', () => {
  const who = {
    givenName: 'Vera',
    familyName: 'Fyfe',
    email: toNormalisedEmail('v@example.com'),
    picture: null,
    imageName: '',
  };
  const url = 'https://media.example/people';
  const shown = (over: { imageName?: string; picture?: string }, isLocal = false) =>
    toPageUser({ ...who, ...over }, { url, isLocal }).pictureUrl;

  it('The header shows the picture of the record, else that of the attribute', () => {
    expect(shown({ imageName: 'vera 1#?.png' })).toBe('https://media.example/people/vera%201%23%3F.png');
    expect(shown({ imageName: 'a/b.png', picture: 'c.png' })).toBe('https://media.example/people/a/b.png');
    expect(shown({ picture: 'c.png' })).toBe('https://media.example/people/c.png');
    expect(shown({ imageName: 'https://media.example/people/x.png' })).toBe('https://media.example/people/x.png');
    const none = { initials: 'VF', pictureUrl: undefined };
    expect(toPageUser({ ...who, imageName: 'a.png' }, undefined)).toMatchObject(none);
  });

  it('The header shows no picture of another host, wherever pictures are served from', () => {
    for (const name of ['//evil.example/a.png', 'https://evil.example/people/a.png', 'data:image/png,a', 'http:/x']) {
      for (const here of [true, false]) expect([name, shown({ picture: name }, here)]).toEqual([name, undefined]);
    }
    expect(shown({ imageName: 'https://evil.example/people/a.png' })).toBeUndefined();
  });

  it('On this host the header links only to pictures, never to an address that acts on a request', () => {
    for (const name of ['../logout', '/logout', '..', './../logout?x', 'https://media.example/logout']) {
      expect([name, shown({ imageName: name }, true) ?? '']).not.toEqual([name, 'https://media.example/logout']);
      expect([name, shown({ picture: name }, true)]).toEqual([name, undefined]);
    }
    expect(shown({ imageName: '%2e%2e/x.png' }, true)).toBe('https://media.example/people/%252e%252e/x.png');
  });

  it('Every page shows a changed picture of the record at once', async () => {
    const member = await foyer.addUser();
    const browser = await foyer.signedIn(member);
    const page = async () => (await browser.get('/dashboard')).text();
    expect(await page()).not.toContain('/media/');
    const change = (imageName: string | null) =>
      foyer.deps.database.transaction(async (trx) => {
        await insertUserRecord(trx, member.id, foyer.deps.now());
        await updateUserRecord(trx, member.id, { change: { imageName }, nowMs: foyer.deps.now() });
      });
    await change('people/vera 1.jpeg');
    const answer = await browser.get('/dashboard');
    expect(answer.headers.get('content-security-policy')).toContain("img-src 'self'");
    expect(await answer.text()).toContain(`<img src="${foyer.url}/media/people/vera%201.jpeg" alt=""/>`);
    await change('people/other.png');
    expect(await page()).toContain('/media/people/other.png');
    await change('../dashboard');
    expect(await page()).not.toContain('<img');
    await change(null);
    expect(await page()).not.toContain('/media/');
  });
});
