import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { type Signed, signedInto } from './callers.ts';

describe.each(backends)('/identity/currentUser and /identity/currentSession on $name', (backend) => {
  let foyer: TestFoyer;
  let signed: Signed;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    signed = await signedInto(foyer);
  });
  afterAll(() => foyer?.close());

  const bySession = async (path: string) => (await signed.browser.get(path, { from: 'same-origin' })).json();
  const byToken = async (path: string) => {
    const headers = { authorization: `Bearer ${signed.tokens.access_token}` };
    return (await sendRequest(foyer.url + path, { headers })).json();
  };

  it('GET /identity/currentUser answers id, username and attributes, by session and by token', async () => {
    const { id, email } = signed.user;
    const expected = { id, username: email, attributes: expect.objectContaining({ sub: id, email, locale: 'en' }) };
    expect(await bySession('/identity/currentUser')).toEqual(expected);
    expect(await byToken('/identity/currentUser')).toEqual(expected);
  });

  it('GET /identity/currentSession answers subject, kind and time of the sign-in, but no token', async () => {
    const expected = { sub: signed.user.id, authTime: expect.any(Number) };
    const answers = [await bySession('/identity/currentSession'), await byToken('/identity/currentSession')];
    expect(answers).toEqual([
      { ...expected, by: 'session' },
      { ...expected, by: 'token' },
    ]);
    for (const { authTime } of answers as { authTime: number }[]) {
      expect(Math.abs(authTime - Date.now())).toBeLessThan(60_000);
    }
  });

  it('After the sign-out the session is gone for the browser and for the token', async () => {
    await signed.browser.post('/logout');
    expect(await bySession('/identity/currentSession')).toMatchObject({ status: 401 });
    expect(await byToken('/identity/currentSession')).toMatchObject({ status: 401 });
  });
});
