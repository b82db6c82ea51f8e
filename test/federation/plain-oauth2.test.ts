import { type StandardProvider, standardProviders } from '../../config/standard-providers.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { begin, come, providersBy, refusal, settingsOf } from './strategies.ts';

const kinds = ['google', 'amazon'] as const;
type Kind = (typeof kinds)[number];

describe('A standard provider whose entry names the plain client of OAuth 2.0', () => {
  let providers: TestProviders;
  beforeAll(async () => {
    providers = await startProviders();
  });
  afterAll(() => providers?.close());

  const openOwn = (kind: Kind) => providersBy(settingsOf(providers.environment()))(kind);

  /** A provider is opened by its entry, so the entry is a plain one for that time alone. */
  function openPlain(kind: Kind) {
    const entry: StandardProvider = standardProviders[kind];
    const { client } = entry;
    entry.client = 'oauth2';
    try {
      return openOwn(kind);
    } finally {
      entry.client = client;
    }
  }

  it.each(kinds)('The plain client of %s returns the same identity as a client with its own package', async (kind) => {
    const { ada } = providers.people[kind];
    providers.answerAs(ada, kind);
    const identity = await come(openOwn(kind));
    expect(identity).toMatchObject({ provider: kind, kind, email: 'ada@example.com', givenName: 'Ada' });
    providers.answerAs(ada, kind);
    expect(await come(openPlain(kind))).toEqual(identity);
    expect(providers.exchanges.at(-1)).toMatchObject({
      path: new URL(standardProviders[kind].endpoints.profile).pathname,
      authorization: expect.stringMatching(/^bearer /i),
      query: {},
    });
  });

  it.each(kinds)('The plain client of %s uses PKCE with S256 and has no parameters besides', async (kind) => {
    const { id, url, strategyState } = await begin(openPlain(kind), { loginHint: 'ada@example.com', repeated: true });
    const { code_challenge, ...query } = Object.fromEntries(url.searchParams);
    expect(query).toEqual({
      client_id: expect.any(String),
      code_challenge_method: 'S256',
      redirect_uri: `http://localhost:3000/federation/${kind}/callback`,
      response_type: 'code',
      scope: standardProviders[kind].scopes.join(' '),
      state: id,
    });
    expect(code_challenge).toMatch(/^[\w-]{43}$/);
    expect(strategyState).toEqual({ verifier: expect.stringMatching(/^[\w-]{43}$/) });
  });

  it.each(kinds)('The plain client of %s ends a cancelled attempt and a wrong code as every other', async (kind) => {
    providers.answerAs('refuse', kind);
    expect(await refusal(come(openPlain(kind)))).toMatchObject({ kind: 'cancelled', detail: 'access_denied' });
    providers.answerAs('wrong-code', kind);
    expect(await refusal(come(openPlain(kind)))).toMatchObject({ kind: 'invalid' });
  });
});
