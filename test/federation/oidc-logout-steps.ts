import { importPKCS8, type JWTPayload, SignJWT } from 'jose';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';
import { isSignedIn } from './saml-steps.ts';
import { comeBy, memberBy, type Person } from './steps.ts';

type Session = ReturnType<TestProviders['oidc']['sessions']>[number];
export type Header = { alg?: string; kid?: string; typ?: string | undefined; [name: string]: unknown };

/** A member who is signed in by the provider. */
export interface Visit {
  user: User;
  who: Person;
  browser: Browser;
  session: Session;
}

/** Members of an OpenID provider, and its logout tokens, right and wrong ones. */
/** @param entry more of the provider's entry in PROVIDERS_FILE */
export async function startOidcLogouts(entry: (providers: TestProviders) => Record<string, unknown> = () => ({})) {
  const providers = await startProviders();
  const foyer: TestFoyer = await startFoyer(anyBackend, {
    ...providers.environment((file) => {
      Object.assign(file.providers[0] ?? {}, entry(providers));
      return file;
    }),
    GUESS_LIMIT_ADDRESS: '1000',
  });

  /** Signs a member in by the provider, in a new browser. */
  async function visit(known?: { user: User; who: Person }): Promise<Visit> {
    const member = known ?? (await memberBy(foyer, providers, 'oidc'));
    const browser = foyer.browser();
    await comeBy(providers, browser, 'oidc', member.who);
    expect(await isSignedIn(browser)).toBe(true);
    const session = providers.oidc.sessions().at(-1);
    if (!session) throw new Error('the provider has no session');
    return { ...member, browser, session };
  }
  const ourKey = () => importPKCS8(providers.samlSigner.privateKey, 'RS256');
  const sign = async (claims: JWTPayload, header: Header = {}, key?: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'sandbox', typ: 'logout+jwt', ...header })
      .sign(key ?? (await ourKey()));
  const send = (fields: Record<string, string>) =>
    sendRequest(`${foyer.url}/federation/acme-oidc/logout`, { method: 'POST', body: new URLSearchParams(fields) });
  const tell = async (claims: JWTPayload, header: Header = {}) =>
    (await send({ logout_token: await sign(claims, header) })).status;
  const claimsOf = ({ session }: Visit, change: JWTPayload = {}): JWTPayload => ({
    ...providers.oidc.logoutClaims(session),
    ...change,
  });
  const stillIn = (...visits: Visit[]) => Promise.all(visits.map(({ browser }) => isSignedIn(browser)));
  const jwksReads = () => providers.exchanges.filter(({ path }) => path === '/acme-oidc/jwks').length;

  const close = async () => {
    await foyer.close();
    await providers.close();
  };
  return { providers, foyer, visit, sign, send, tell, claimsOf, stillIn, jwksReads, close };
}

export type OidcLogouts = Awaited<ReturnType<typeof startOidcLogouts>>;
