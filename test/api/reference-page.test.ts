import { execFile } from 'node:child_process';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { createElement } from 'react';
import { apiProblems, apiReferencePath, createPages } from '../../server/http/index.ts';
import { problemDocs } from '../../server/http/problem-docs.ts';
import { ApiReferencePage } from '../../views/api-reference/api-reference-page.tsx';
import { curlCommand } from '../../views/api-reference/curl.ts';
import type { ApiDocument, DocumentedCall } from '../../views/api-reference/document.ts';
import { listCalls } from '../../views/api-reference/named-schemas.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { readProblem } from './started-api.ts';

const run = promisify(execFile);
const hostile = '<script>alert(1)</script>';
const withoutEntities = (html: string) =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');

/** The text of a part of the page, without its tags. */
const textOf = (html: string) => withoutEntities(html.replaceAll(/<[^>]*>/g, ''));

describe('the page of the JSON API', () => {
  let foyer: TestFoyer;
  let document: ApiDocument;
  let html: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { BRAND_NAME: `Maison ${hostile}` });
    document = (await (await sendRequest(`${foyer.url}/openapi.json`)).json()) as ApiDocument;
    html = await (await sendRequest(foyer.url + apiReferencePath)).text();
  });
  afterAll(() => foyer?.close());

  /** The part of a call, from its anchor to the next one's. */
  const partOf = ({ operationId }: DocumentedCall) => {
    const [, rest = ''] = html.split(`<article class="card api-call" id="call-${operationId}"`);
    return rest.split('<article ')[0] ?? '';
  };
  const ids = () => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

  it('Every operation of the document has a part with an anchor, and no other part is there', () => {
    const calls = listCalls(document);
    expect(calls.length).toBeGreaterThan(40);
    const parts = [...html.matchAll(/<article class="card api-call" id="call-([^"]+)"/g)].map(([, id]) => id);
    expect(parts.toSorted()).toEqual(calls.map(({ call }) => call.operationId).toSorted());
    for (const { path, method, call } of calls) {
      const text = textOf(partOf(call));
      for (const words of [method.toUpperCase(), path, call.summary, call.operationId, ...(call['x-aliases'] ?? [])])
        expect(text).toContain(words);
      for (const paragraph of call.description.split('\n\n')) expect(text).toContain(paragraph.replaceAll('`', ''));
      for (const { name } of call.parameters ?? []) expect(text).toContain(name);
      for (const status of Object.keys(call.responses).filter((one) => one !== '200')) expect(text).toContain(status);
      for (const scope of call.security.flatMap((one) => Object.values(one).flat())) expect(text).toContain(scope);
    }
  });

  it('Every field of every body and answer is on the page, at its call or in its schema', () => {
    const missing = Object.entries(document.components.schemas)
      .filter(([name]) => name === 'Problem' || !name.endsWith('Problem'))
      .flatMap(([name, { properties = {} }]) => {
        const [, rest = ''] = html.split(` id="schema-${name}"`);
        const part = rest.split(/ id="(?:call|schema)-/)[0] ?? '';
        return Object.keys(properties)
          .filter((field) => !part.includes(`<code>${field}</code>`))
          .map((field) => `${name}.${field}`);
      });
    expect(missing).toEqual([]);
  });

  it('Every link inside the page leads to a part of it, and no two parts have the same id', () => {
    const all = ids();
    expect(new Set(all).size).toBe(all.length);
    const targets = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id = '']) => id);
    expect(targets.length).toBeGreaterThan(500);
    expect(targets.filter((id) => !all.includes(id))).toEqual([]);
  });

  it('Every problem type is on the page with its status, its cause and what to do', () => {
    for (const [name, { status, title }] of Object.entries(apiProblems)) {
      const [, rest = ''] = html.split(` id="problem-${name}"`);
      const text = textOf(rest.split(' id="problem-')[0] ?? '').toLowerCase();
      const { cause, remedy } = problemDocs[name as keyof typeof apiProblems];
      for (const words of [String(status), title, `urn:foyer:problem:${name}`, cause, remedy])
        expect(text).toContain(words.replaceAll('`', '').toLowerCase());
    }
  });

  it('A caller finds at each call the problem types that the document gives it', () => {
    const found = listCalls(document).filter(({ call }) => call.responses['429'] !== undefined);
    for (const { call } of found) {
      for (const name of ['validation', 'tooMany', 'unavailable'])
        expect(partOf(call)).toContain(`href="#problem-${name}"`);
    }
    const byId = new Map(found.map(({ call }) => [call.operationId, partOf(call)]));
    expect(byId.get('readMessage')).toContain('href="#problem-unknownNotification"');
    expect(byId.get('listMessages')).not.toContain('href="#problem-unknownNotification"');
  });

  it.each([
    ['gzip, br', 'gzip'],
    ['identity', null],
  ])(
    'The page is sent from memory, cached publicly and without a cookie, with Accept-Encoding %s',
    async (accept, encoding) => {
      const headers = { 'accept-encoding': accept };
      const answer = await sendRequest(foyer.url + apiReferencePath, { headers });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      const again = { ...headers, 'if-none-match': answer.headers.get('etag') ?? '' };
      expect((await sendRequest(foyer.url + apiReferencePath, { headers: again })).status).toBe(304);
    },
  );

  it('A member, a visitor with a language of their own and a token get the same bytes as every other visitor', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    const answers = [
      await browser.get(apiReferencePath),
      await sendRequest(foyer.url + apiReferencePath, { headers: { 'accept-language': 'de', cookie: 'lang=fr' } }),
      await sendRequest(foyer.url + apiReferencePath, { headers: { authorization: 'Bearer invalid' } }),
    ];
    for (const answer of answers) {
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(await answer.text()).toBe(html);
    }
    expect(html).toContain('<html lang="en">');
    expect(html).not.toContain('action="/language"');
  });

  it('The policy of the page permits no script, and the page has none', async () => {
    const answer = await sendRequest(foyer.url + apiReferencePath);
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'none'");
    expect(html).not.toMatch(/<script|<iframe|<form| style=| on\w+="|javascript:/);
    const loaded = [...html.matchAll(/<(?:link|img|source)[^>]* (?:href|src)="([^"]+)"/g)].map(([, url = '']) => url);
    expect(loaded.filter((url) => !url.startsWith('/assets/'))).toEqual([]);
  });

  it('Only GET and HEAD are answered, and other spellings of the address are no page', async () => {
    const refused = await sendRequest(foyer.url + apiReferencePath, {
      method: 'POST',
      headers: { accept: 'application/json', origin: foyer.url },
    });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await readProblem(refused)).toMatchObject({ type: 'urn:foyer:problem:methodNotAllowed' });
    const head = await sendRequest(foyer.url + apiReferencePath, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const path of ['/docs/api/', '/docs', '/Docs/api'])
      expect((await sendRequest(foyer.url + path, { redirect: 'manual' })).status).toBe(404);
  });

  it('The page fits into 60 KB on the wire', async () => {
    const packed = await fetchRaw(`${foyer.url}${apiReferencePath}`);
    expect(gunzipSync(packed).toString()).toBe(html);
    expect(packed.length).toBeLessThan(60_000);
  });

  it('A brand name with markup is shown as text', () => {
    expect(html).not.toContain(hostile);
    expect(html).toContain('Maison &lt;script&gt;');
  });

  it('Markup in every text of a document is shown as text, and ids cannot leave their attribute', () => {
    const evil = `\`${hostile}\` "><img src=x onerror=alert(1)>`;
    const call: DocumentedCall = {
      operationId: evil,
      'x-aliases': [evil],
      tags: [evil],
      summary: evil,
      description: evil,
      security: [{ [evil]: [evil] }],
      parameters: [
        { name: evil, in: 'query', required: true, description: evil, schema: { enum: [evil] }, example: evil },
      ],
      requestBody: {
        required: true,
        content: { [evil]: { schema: { $ref: `#/components/schemas/${evil}` }, example: evil } },
      },
      responses: {
        200: {
          description: evil,
          content: { [evil]: { schema: { type: evil, format: evil }, example: { [evil]: evil } } },
        },
        [evil]: { description: evil, content: { [evil]: { schema: { anyOf: [{ pattern: evil }] } } } },
      },
    };
    const field = { description: evil, examples: [evil], pattern: evil };
    const evilDocument: ApiDocument = {
      info: { title: evil, description: evil },
      servers: [{ url: evil }],
      tags: [{ name: evil, description: evil }],
      paths: { [evil]: { [evil]: call } },
      components: {
        schemas: { [evil]: { description: evil, required: [evil], properties: { [evil]: field } } },
        securitySchemes: { [evil]: { type: evil, description: evil, flows: { [evil]: { scopes: { [evil]: evil } } } } },
      },
    };
    const problem = { name: evil, type: evil, status: 400, title: evil, cause: evil, remedy: evil };
    const assets = { css: '', fonts: [], icon: undefined, script: () => '', style: () => '' };
    const pages = createPages({ assets, brandName: evil, links: {} });
    const { html: rendered } = pages.renderPublic(
      (ctx) =>
        createElement(ApiReferencePage, {
          ctx,
          document: evilDocument,
          problems: [problem],
          documentHref: '/openapi.json',
        }),
      { title: evil },
    );
    expect(rendered).toContain('&lt;script&gt;');
    expect(rendered).not.toMatch(/<script|<img/);
  });

  it('A shell reads each example as one call of curl with the example of the document, whatever is in it', async () => {
    const shell = async (command: string): Promise<string[]> => {
      const script = `curl() { for part in "$@"; do printf '%s\\0' "$part"; done; }; TOKEN=the-token; CLIENT_ID=id; CLIENT_SECRET=secret; ${command}`;
      const { stdout } = await run('sh', ['-c', script]);
      return stdout.split('\0').slice(0, -1);
    };
    for (const one of listCalls(document)) {
      const parts = await shell(curlCommand(one, 'https://login.example'));
      expect(parts.find((part) => part.startsWith('https://login.example/'))).toBeDefined();
      const example = one.call.requestBody?.content['application/json']?.example;
      if (example !== undefined) expect(JSON.parse(parts[parts.indexOf('-d') + 1] ?? '')).toEqual(example);
      if (one.call.security.length > 0) expect(parts.join(' ')).toMatch(/Bearer the-token|id:secret/);
    }
    const [first] = listCalls(document).filter(({ call }) => call.requestBody);
    if (!first) throw new Error('no call with a body');
    const nasty = { text: `'; touch /tmp/owned; echo '$(id) \`id\` "\n\\` };
    const call = {
      ...first.call,
      requestBody: { required: true, content: { 'application/json': { schema: {}, example: nasty } } },
    };
    const parts = await shell(curlCommand({ ...first, call }, "https://login.example'; id; '"));
    expect(JSON.parse(parts[parts.indexOf('-d') + 1] ?? '')).toEqual(nasty);
  });
});

/** The body as it was sent. */
function fetchRaw(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
    })
      .on('error', reject)
      .end();
  });
}
