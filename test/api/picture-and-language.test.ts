import { findUser, type User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { bearer, signedInto } from './callers.ts';

describe('picture and preferred_language of the JSON API', () => {
  let foyer: TestFoyer;
  let user: User;
  let headers: Record<string, string>;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { MEDIA_URL: 'https://media.example.com/people/' });
    const signed = await signedInto(foyer, 'openid profile account');
    user = signed.user;
    headers = { 'content-type': 'application/json', ...bearer(signed.tokens.access_token).headers };
  });
  afterAll(() => foyer?.close());

  const update = (body: object) =>
    foyer.browser().request('/identity/updateUserAttributes', { method: 'POST', headers, body: JSON.stringify(body) });
  const read = async (path: string): Promise<Record<string, unknown>> =>
    (await foyer.browser().request(path, { headers })).json();
  const attributes = () => read('/identity/userAttributes');

  it('Both are set, read back by every call, and removed by an empty text', async () => {
    expect((await update({ picture: 'ada.png', preferred_language: 'pt-BR' })).status).toBe(200);
    const picture = 'https://media.example.com/people/ada.png';
    expect(await attributes()).toMatchObject({ picture, preferred_language: 'pt-BR' });
    expect(await read('/user/info')).toMatchObject({ picture });
    expect(await read('/identity/currentUser')).toMatchObject({ attributes: { picture, preferred_language: 'pt-BR' } });
    // An answer's values are accepted back.
    expect((await update({ picture, preferred_language: 'pt-BR' })).status).toBe(200);
    expect((await update({ picture: '', preferred_language: '' })).status).toBe(200);
    const after = await attributes();
    expect([after.picture, after.preferred_language]).toEqual([undefined, undefined]);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('A change of a name beside them is one change with its mail', async () => {
    expect((await update({ picture: 'b.png', given_name: 'Augusta' })).status).toBe(200);
    expect(await attributes()).toMatchObject({ given_name: 'Augusta', picture: expect.stringContaining('b.png') });
    expect((await foyer.mails(user.email)).length).toBe(1);
    await update({ picture: '' });
  });

  it.each([
    'https://evil.example/x.png',
    'http://media.example.com/people/x.png',
    'https://media.example.com@evil.example/x.png',
    'https://media.example.com:444/x.png',
    '//evil.example/x.png',
    '../../etc/passwd',
    '%2e%2e/x',
    'javascript:alert(1)',
    'data:image/png;base64,AA',
    `${'x'.repeat(301)}`,
    'a\u202eb.png',
  ])('Attack: the picture %j is refused, and nothing is changed', async (picture) => {
    const answer = await update({ picture, given_name: 'Mallory' });
    expect([answer.status, await answer.json()]).toMatchObject([400, { type: 'urn:foyer:problem:validation' }]);
    expect((await findUser(foyer.deps.database.db, user.id))?.givenName).not.toBe('Mallory');
    expect((await attributes()).picture).toBeUndefined();
  });

  it.each(['english please', 'e', 'en_US', '<b>', 'x'.repeat(36)])('The language %j is refused', async (language) => {
    expect((await update({ preferred_language: language })).status).toBe(400);
  });
});

describe('the picture without a configured place', () => {
  it('A path that Foyer does not serve is refused', async () => {
    const foyer = await startFoyer(anyBackend);
    try {
      const { tokens } = await signedInto(foyer, 'openid profile account');
      const headers = { 'content-type': 'application/json', ...bearer(tokens.access_token).headers };
      for (const picture of ['ada.png', `${foyer.url}/logout`, `${foyer.url}/media/uploads/../../logout`]) {
        const body = JSON.stringify({ picture });
        const answer = await foyer
          .browser()
          .request('/identity/updateUserAttributes', { method: 'POST', headers, body });
        expect([picture, answer.status]).toEqual([picture, 400]);
      }
    } finally {
      await foyer.close();
    }
  });
});
