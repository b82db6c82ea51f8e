import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { service, signedInto } from './callers.ts';

describe.each(backends)('public calls that a client app makes for its visitors on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  /** A sign-up that does not fit: a public call of which an address may make 30 a minute. */
  const signUp = async (headers: Record<string, string>) => {
    const answer = await sendRequest(`${foyer.url}/identity/signUp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    });
    return answer.status;
  };
  const bearer = (token: string, address: string) => ({
    authorization: `Bearer ${token}`,
    'foyer-visitor-address': address,
  });

  it('Each visitor behind one server has a limit of its own, which does not use up the server’s limit', async () => {
    const { token } = await service(foyer, ['visitors:act-for']);
    const first: number[] = [];
    for (let n = 0; n < 32; n += 1) first.push(await signUp(bearer(token, '198.51.100.7')));
    expect(first).toEqual([...Array.from({ length: 30 }, () => 400), 429, 429]);
    expect(await signUp(bearer(token, '2001:db8:77::1'))).toBe(400);
    expect(await signUp({})).toBe(400);
  });

  it('Attack: a caller without the scope who names a visitor address to bypass the limit is refused', async () => {
    const other = await service(foyer, ['users:read']);
    const { tokens } = await signedInto(foyer);
    const member = await foyer.signedIn(await foyer.addUser());
    expect(await signUp({ 'foyer-visitor-address': '198.51.100.8' })).toBe(401);
    expect(await signUp(bearer('made-up', '198.51.100.8'))).toBe(401);
    expect(await signUp(bearer(other.token, '198.51.100.8'))).toBe(403);
    expect(await signUp(bearer(tokens.access_token, '198.51.100.8'))).toBe(403);
    const cookie = await member.jar.getCookieString(foyer.url);
    const ownPage = { cookie, origin: foyer.url, 'sec-fetch-site': 'same-origin' };
    expect(await signUp({ ...ownPage, 'foyer-visitor-address': '198.51.100.8' })).toBe(403);
  });

  it.each(['', 'x', '198.51.100', '198.51.100.7, 198.51.100.8', '::1%lo', '[::1]', '198.51.100.7:80'])(
    'The invalid visitor address “%s” gets 400',
    async (address) => {
      const { token } = await service(foyer, ['visitors:act-for']);
      expect(await signUp(bearer(token, address))).toBe(400);
    },
  );
});
