import type { OpenIdStandIn } from './openid-stand-in.ts';
import { signInsAt, startOpenIdStandIn } from './openid-stand-in.ts';
import { refusal } from './strategies.ts';

describe('pushed requests to an OpenID provider', () => {
  let standIn: OpenIdStandIn;
  const ada = { subject: 'ada' };
  beforeEach(async () => {
    standIn = await startOpenIdStandIn();
    standIn.traits.metadata = { pushed_authorization_request_endpoint: `${standIn.issuer}/par` };
  });
  afterEach(() => standIn?.close());
  const demand = () => Object.assign(standIn.traits.metadata, { require_pushed_authorization_requests: true });

  it.each([
    ['discovery demands it', demand, {}],
    ['the setting demands it', () => {}, { pushedRequests: true }],
  ])('A request is pushed where %s, and the browser carries its reference alone', async (_where, prepare, config) => {
    prepare();
    const { begin, signIn } = signInsAt(standIn, config);
    const { url } = await begin();
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'foyer-at-acme',
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:/),
    });
    const { form } = standIn.requests.findLast(({ path }) => path === '/par') ?? {};
    expect(Object.fromEntries(form ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      state: expect.any(String),
    });
    expect(await signIn()).toMatchObject(ada);
  });

  it('A request is not pushed where neither discovery nor the setting demands it', async () => {
    expect(await signInsAt(standIn).signIn()).toMatchObject(ada);
    expect(standIn.count('/par')).toBe(0);
  });

  it('A pushed request finds the way in which the provider takes the secret', async () => {
    demand();
    standIn.traits.refuse = ({ form }) => (form.has('client_secret') ? undefined : 'invalid_client');
    const { signIn } = signInsAt(standIn, { clientSecret: 'secret' });
    expect(await signIn()).toMatchObject(ada);
    expect(await signIn()).toMatchObject(ada);
    expect(standIn.count('/par')).toBe(4);
    expect(standIn.count('/token')).toBe(2);
  });

  it('A provider that demands pushed requests and names no address for them is not set up', async () => {
    standIn.traits.metadata = { require_pushed_authorization_requests: true };
    expect(await refusal(signInsAt(standIn).begin())).toMatchObject({ kind: 'not-set-up' });
  });

  it.each([
    ['invalid_request', 'not-set-up', 'pushed request: invalid_request'],
    ['invalid_client', 'not-set-up', 'pushed request: invalid_client'],
    ['server_error', 'provider-error', 'pushed request: server_error'],
  ])('A pushed request that is refused with %s ends as %s', async (word, kind, detail) => {
    demand();
    standIn.traits.refusalStatus = 400;
    standIn.traits.refuse = () => word;
    expect(await refusal(signInsAt(standIn).begin())).toMatchObject({ kind, detail });
  });
});
