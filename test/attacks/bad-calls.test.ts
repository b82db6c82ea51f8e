import { gzipSync } from 'node:zlib';
import { password } from '../support/foyer.ts';
import { brokenBodies, form, isClear, json, oddValues, openScene, type Scene, shown, strictest } from './bad-input.ts';
import { type Sent, send } from './wire.ts';

describe.each(strictest())('bad calls by client apps on $name', (backend) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(backend);
  });
  afterAll(() => scene?.foyer.close());

  it('The endpoints for client apps answer bad requests as their standards say and use no token up', async () => {
    const { refresh_token = '', access_token } = scene.tokens;
    const before = await scene.stored();
    const endpoints = ['/oauth2/token', '/oauth2/introspect', '/oauth2/revoke', '/oauth2/userInfo'];
    const good: Record<string, string> = {
      '/oauth2/token': new URLSearchParams({ grant_type: 'refresh_token', refresh_token }).toString(),
      '/oauth2/introspect': new URLSearchParams({ token: access_token }).toString(),
      '/oauth2/revoke': new URLSearchParams({ token: access_token }).toString(),
      '/oauth2/userInfo': new URLSearchParams({ access_token }).toString(),
    };
    for (const path of endpoints) {
      const authorization = path === '/oauth2/userInfo' ? '' : scene.basic;
      const call = (sent: Sent) =>
        send(scene.port, path, {
          method: 'POST',
          ...sent,
          headers: {
            host: scene.host,
            accept: json,
            'content-type': form,
            ...(authorization && { authorization }),
            ...sent.headers,
          },
        });
      const field = path === '/oauth2/token' ? 'refresh_token' : path === '/oauth2/userInfo' ? 'access_token' : 'token';
      const bad: [string, Sent][] = [
        ['no body', {}],
        ['an empty form', { body: '' }],
        [
          'JSON',
          {
            headers: { 'content-type': json },
            body: JSON.stringify(Object.fromEntries(new URLSearchParams(good[path]))),
          },
        ],
        ['JSON cut off', { headers: { 'content-type': json }, body: '{' }],
        ['plain text', { headers: { 'content-type': 'text/plain' }, body: good[path] ?? '' }],
        ['a file', { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: '--x--' }],
        ['a field twice', { body: `${good[path]}&${field}=x` }],
        ['the same field twice with the same value', { body: `${good[path]}&${good[path]}` }],
        ['broken encoding', { body: `${field}=%E0%A4%A&grant_type=%` }],
        ['200 KB', { body: `${field}=${'x'.repeat(200_000)}` }],
        ['a pack', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(good[path] ?? '') }],
        ['an unknown character set', { headers: { 'content-type': `${form}; charset=x-evil` }, body: `${field}=x` }],
        ['an unknown grant', { body: `grant_type=password&username=a&password=b&${field}=x` }],
        ['a prototype as grant', { body: `grant_type=__proto__&${field}=x` }],
        ['a prototype as grant', { body: `grant_type=constructor&${field}=x` }],
        ...oddValues.map(([what, value]): [string, Sent] => [
          what,
          { body: new URLSearchParams({ grant_type: 'refresh_token', [field]: value }).toString() },
        ]),
      ];
      for (const [what, sent] of bad) {
        const answer = await call(sent);
        // Revoking or introspecting an unknown token is no error (RFC 7009, section 2.2; RFC 7662, section 2.2).
        const none = (path === '/oauth2/revoke' && answer.text === '') || answer.text === '{"active":false}';
        expect([path, what, isClear(answer) || none ? 'fine' : shown(answer)]).toEqual([path, what, 'fine']);
      }
      for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND', ...(path === '/oauth2/userInfo' ? [] : ['GET'])]) {
        const answer = await send(scene.port, path, { method, headers: { host: scene.host, accept: json } });
        expect([path, method, answer.status]).toEqual([path, method, 405]);
      }
    }
    expect(await scene.stored()).toBe(before);
    const still = await send(scene.port, '/oauth2/userInfo', {
      headers: { host: scene.host, authorization: `Bearer ${access_token}` },
    });
    expect(still.status).toBe(200);
  });

  it('An unreadable form posted to the authorization endpoint is refused', async () => {
    for (const path of ['/oauth2/authorize', '/oauth2/logout']) {
      for (const [what, sent] of brokenBodies) {
        const answer = await scene.post(path, { ...sent, headers: { ...sent.headers, cookie: '' } });
        expect([path, what, isClear(answer) ? 'clear' : shown(answer)]).toEqual([path, what, 'clear']);
      }
    }
  });

  it('No bad call leaves an error-level line in the log', () => {
    expect(scene.foyer.logged()).not.toContain('"level":50');
    expect(scene.foyer.logged()).not.toContain(password);
  });
});
