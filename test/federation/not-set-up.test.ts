import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { locationOf, noticeOf } from '../support/browser.ts';
import { cliOn } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders } from '../support/providers.ts';
import { refreshOf } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { type OpenIdStandIn, startOpenIdStandIn, writeProvidersFile } from './openid-stand-in.ts';
import { come, providersBy, refusal, settingsOf } from './strategies.ts';

/** What members read in each language: that trying again does not help, and to whom they write. */
const texts = {
  en: /Signing in with Acme isn’t set up correctly, so trying again doesn’t help\..*write to our support/,
  de: /Anmeldung mit Acme ist nicht richtig eingerichtet, ein neuer Versuch hilft also nicht\..*unserem Support/,
  fr: /connexion avec Acme n’est pas bien configurée\u00a0: réessayer ne sert à rien\..*notre assistance/,
  nl: /inloggen met Acme is niet goed ingesteld\. Opnieuw proberen helpt niet.*onze klantenservice/,
};
const again = /in a moment|gleich noch einmal|dans un instant|zo meteen/;

describe('a provider that is not set up rightly', () => {
  let standIn: OpenIdStandIn;
  let foyer: TestFoyer;
  let ownTraits: OpenIdStandIn['traits'];
  beforeAll(async () => {
    standIn = await startOpenIdStandIn();
    ownTraits = { ...standIn.traits };
    const file = writeProvidersFile(standIn, {
      clientSecret: 'secret-of-acme',
      clientAuthentication: 'post',
      privateKey: standIn.write('client.pem', newKey()),
    });
    foyer = await startFoyer(anyBackend, { PROVIDERS_FILE: file });
  });
  afterEach(() => void Object.assign(standIn.traits, ownTraits));
  afterAll(async () => {
    await foyer?.close();
    await standIn?.close();
  });

  /** @param error the provider's answer to the authorization request, instead of a code */
  async function signIn(lang: string, error?: string) {
    const browser = foyer.browser();
    browser.headers['accept-language'] = lang;
    const pressed = await browser.post('/federation/acme-oidc');
    const url = new URL(refreshOf(await pressed.text()));
    const back = standIn.answer({ id: '', url, strategyState: {} });
    if (error !== undefined) {
      back.searchParams.delete('code');
      back.searchParams.set('error', error);
    }
    const answer = await browser.get(`${back.pathname}${back.search}`, { from: 'cross-site' });
    const page = await browser.get(locationOf(answer));
    return { page: await page.text(), address: locationOf(answer) };
  }

  const refuse = (word: string) => () => {
    standIn.traits.refuse = () => word;
  };
  const hs256 = async (claims: Record<string, unknown>) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('secret-of-acme'));
  const refusals: [what: string, detail: string, plan: () => void, error?: string][] = [
    ['invalid_client', 'token endpoint: invalid_client', refuse('invalid_client')],
    ['unauthorized_client', 'token endpoint: unauthorized_client', refuse('unauthorized_client')],
    ['unsupported_grant_type', 'token endpoint: unsupported_grant_type', refuse('unsupported_grant_type')],
    [
      'an id token signed with HS256',
      'the token is signed with HS256, which is not supported',
      () => {
        standIn.traits.idToken = hs256;
      },
    ],
    [
      'an encrypted id token without a key for it',
      'the id token is encrypted, and there is no decryptionKey',
      () => {
        standIn.traits.idToken = async () => 'a.b.c.d.e';
      },
    ],
    ...['unauthorized_client', 'invalid_request', 'invalid_scope', 'unsupported_response_type'].map(
      (word): (typeof refusals)[number] => [`authorization with ${word}`, `authorization: ${word}`, () => {}, word],
    ),
  ];

  it.each(refusals)(
    'After %s members read in four languages that trying again does not help, and the log says why',
    async (_what, detail, plan, error) => {
      plan();
      for (const [lang, text] of Object.entries(texts)) {
        const { page, address } = await signIn(lang, error);
        expect(noticeOf(address)).toBe('federation:not-set-up');
        expect(page).toMatch(text);
        expect(page).not.toMatch(again);
      }
      expect(foyer.logged()).toContain(`"outcome":"not-set-up","detail":"${detail}"`);
      expect(foyer.logged()).not.toContain('secret-of-acme');
    },
  );

  it.each<[string, string, Partial<OpenIdStandIn['traits']>]>([
    ['no discovery document', 'discovery: status 404', { discoveryStatus: 404 }],
    [
      'a discovery document of another issuer',
      'discovery: the document names another issuer',
      { metadata: { issuer: 'https://else.example' } },
    ],
  ])('A provider with %s is not set up, which members read in four languages', async (_what, detail, traits) => {
    Object.assign(standIn.traits, traits);
    const file = writeProvidersFile(standIn, { clientSecret: 'secret-of-acme' });
    const other = await startFoyer(anyBackend, { PROVIDERS_FILE: file });
    for (const [lang, text] of Object.entries(texts)) {
      const browser = other.browser();
      browser.headers['accept-language'] = lang;
      const to = locationOf(await browser.post('/federation/acme-oidc'));
      expect(noticeOf(to)).toBe('federation:not-set-up');
      const page = await (await browser.get(to)).text();
      expect(page).toMatch(text);
      expect(page).not.toMatch(again);
    }
    expect(other.logged()).toContain(`"outcome":"not-set-up","detail":"${detail}"`);
    await other.close();
  });

  it.each<[string, Record<string, string>, string]>([
    [
      'the mail address of the support',
      { MAIL_SUPPORT_ADDRESS: 'help@example.com', HELP_URL: 'https://help.example.com/' },
      '<a href="mailto:help@example.com">help@example.com</a>',
    ],
    [
      'the help center without a mail address',
      { HELP_URL: 'https://help.example.com/' },
      '<a href="https://help.example.com/">Help center</a>',
    ],
    ['the stand-in of the help center in the sandbox', {}, '<a href="/sandbox/help">Help center</a>'],
  ])('The notice has %s on each page that shows it, and no other notice has it', async (_what, environment, link) => {
    const PROVIDERS_FILE = writeProvidersFile(standIn, { clientSecret: 'secret-of-acme' });
    const other = await startFoyer(anyBackend, { PROVIDERS_FILE, ...environment });
    const member = await other.signedIn(await other.addUser());
    const notice = async (path: string, kind: string, who = other.browser()) => {
      await who.announce(`federation:${kind}/acme-oidc`);
      const page = await who.get(path);
      return /<div class="notice error" role="alert">.*?<\/div>/.exec(await page.text())?.[0] ?? '';
    };
    const visits = [
      ['/', other.browser()],
      ['/signup', other.browser()],
      ['/re-authenticate', member],
      ['/settings/providers', member],
    ] as const;
    for (const [path, who] of visits) {
      const text = await notice(path, 'not-set-up', who);
      expect([path, text]).toEqual([path, expect.stringContaining('write to our support.')]);
      expect([path, /<a .*?<\/a>/.exec(text)?.[0]]).toEqual([path, link]);
      expect([path, await notice(path, 'invalid', who)]).toEqual([path, expect.not.stringContaining('<a ')]);
    }
    await other.close();
  });

  it('A fault that may pass still asks members to try again', async () => {
    for (const word of ['server_error', 'temporarily_unavailable']) {
      const { page, address } = await signIn('en', word);
      expect(address).toContain('federation:provider-error');
      expect(page).toMatch(again);
    }
  });

  it('A well-known provider that does not take the credentials is not set up, either', async () => {
    const providers = await startProviders();
    try {
      const environment = { ...providers.environment(), GOOGLE_CLIENT_SECRET: 'wrong' };
      const google = providersBy(settingsOf(environment))('google');
      providers.answerAs(providers.people.google.ada, 'google');
      expect(await refusal(come(google))).toMatchObject({
        kind: 'not-set-up',
        detail: 'token endpoint: invalid_client',
      });
    } finally {
      await providers.close();
    }
  });

  it('The public keys of Foyer stand at an address of the provider, which the list of providers prints', async () => {
    const answer = await foyer.browser().get('/federation/acme-oidc/jwks');
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const { keys } = (await answer.json()) as { keys: object[] };
    expect(keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        use: 'sig',
        alg: 'ES256',
      },
    ]);
    for (const id of ['nobody', 'google'])
      expect((await foyer.browser().get(`/federation/${id}/jwks`)).status).toBe(404);
    const env = { PROVIDERS_FILE: writeProvidersFile(standIn, { privateKey: standIn.write('client.pem', newKey()) }) };
    const cli = cliOn({ databaseUrl: '', redisUrl: '', dataDir: standIn.write('nowhere', '') }, env);
    expect((await cli('provider', 'list')).out).toContain('jwks: http://localhost:3000/federation/acme-oidc/jwks');
  });
});

const newKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
