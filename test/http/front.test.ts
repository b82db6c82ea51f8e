import { request } from 'node:http';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

interface Answer {
  status: number | undefined;
  headers: Record<string, unknown>;
  text: string;
}

/** Without fetch, which lets no test choose the Host header. */
function ask(url: string, method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url), { method, path, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

const direct = [
  ['GET', '/oauth2/authorize?client_id=unknown-client'],
  ['POST', '/oauth2/token'],
  ['GET', '/oauth2/userInfo'],
  ['POST', '/oauth2/introspect'],
  ['POST', '/oauth2/revoke'],
] as const;

const embedded = anyBackend;

describe('requests that bypass Express', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(embedded);
  });
  afterAll(() => foyer.close());

  it.each(direct)('%s %s has the headers of every answer', async (method, path) => {
    const answer = await ask(foyer.url, method, path);
    const page = await ask(foyer.url, 'GET', '/no-such-page');
    const ofEvery = Object.keys(page.headers).filter((name) => /^(x-|cross-|permissions|referrer|origin-)/.test(name));
    expect(ofEvery).toEqual(expect.arrayContaining(['x-content-type-options', 'permissions-policy']));
    for (const name of ofEvery) expect([name, answer.headers[name]]).toEqual([name, page.headers[name]]);
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(answer.headers['cache-control']).toContain('no-store');
  });

  it.each(direct)(
    '%s %s with a foreign Host header gets 421 without an answer of the library',
    async (method, path) => {
      const answer = await ask(foyer.url, method, path, { host: 'evil.example' });
      expect(answer.status).toBe(421);
      expect(answer.text).not.toContain('evil.example');
    },
  );

  it.each(direct)('%s %s through a proxy is refused outside production', async (method, path) => {
    expect((await ask(foyer.url, method, path, { 'x-forwarded-for': '203.0.113.7' })).status).toBe(403);
  });

  it.each(direct)('%s %s refuses another method with 405', async (_method, path) => {
    const answer = await ask(foyer.url, 'DELETE', path);
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBeDefined();
  });

  it('A request past Express is logged without its query', async () => {
    await ask(foyer.url, 'GET', '/oauth2/userInfo?access_token=very-secret');
    expect(foyer.logged()).toMatch(/"method":"GET","path":"\/oauth2\/userInfo","status":4\d\d,/);
    expect(foyer.logged()).not.toContain('very-secret');
  });

  it('A request past Express has an error page with the reference of the log', async () => {
    const { status, text } = await ask(foyer.url, 'GET', '/oauth2/authorize?client_id=unknown-client', {
      accept: 'text/html',
    });
    expect(status).toBe(400);
    const [reference] = /\b[0-9A-F]{10}\b/.exec(text) ?? [];
    expect(reference).toBeDefined();
    expect(foyer.logged()).toContain(`"reference":"${reference}"`);
  });
});
