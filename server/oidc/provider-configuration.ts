import type { Client, Configuration, JWK, KoaContextWithOIDC } from 'oidc-provider';
import { apiReferencePath, type HostCookies, languages, toLifetime } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import { acrValues } from '../sessions/index.ts';
import { toUserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import {
  claimsByScope,
  claimsFor,
  findCurrentUser,
  type GetMembershipClaims,
  listProfileClaims,
  mustSetUpSecondFactor,
  type ProfileField,
  type WithPicture,
} from '../users/index.ts';
import { isRestricted } from './access-rule.ts';
import { type AdapterDeps, createAdapterFactory } from './adapter.ts';
import { clientAssertionAlgorithms } from './client-keys.ts';
import { extraMetadata } from './client-metadata.ts';
import { deviceCodeSeconds, deviceFlow } from './device-flow.ts';
import { proofAlgorithms } from './dpop.ts';
import { assertClientAssertion } from './fapi2.ts';
import { createInteractionPolicy, type PolicyDeps } from './interaction-policy.ts';
import { createLoadGrant } from './load-existing-grant.ts';
import { requiresChallenge } from './pkce.ts';
import { cookieSignatures } from './provider-cookies.ts';
import { queryIdToken, queryIdTokenSeconds } from './query-response-mode.ts';
import { providerParameters } from './request-hints.ts';
import { assertRequestObject } from './request-objects.ts';
import { createResourceServerInfo } from './resource-tokens.ts';
import { routes } from './routes-table.ts';
import { knownScopes, requireGrantableScope } from './scopes.ts';
import { isOwnScriptOrigin } from './script-origins.ts';
import type { SessionGrants } from './session-grants.ts';
import { accessTokenClaims, limitRequestedClaims, selectClaims } from './token-claims.ts';

export interface ProviderDeps extends AdapterDeps, PolicyDeps {
  issuer: string;
  database: Database;
  cookies: HostCookies;
  cookieKeys: string[];
  /** 32 bytes, the same in all processes: the secret of the DPoP nonces. */
  proofNonceSecret: Buffer;
  development: boolean;
  privacyUrl: string | undefined;
  developersUrl: string | undefined;
  outbox: Outbox;
  sessionGrants: SessionGrants;
  membershipClaims: GetMembershipClaims;
  withPicture: WithPicture | undefined;
  withheldFields: ReadonlySet<ProfileField>;
  rememberMs: number;
  idleMs: number;
  /** Returns the page of Foyer for a prompt of the library. */
  interactionUrl: NonNullable<NonNullable<Configuration['interactions']>['url']>;
  renderError(ctx: KoaContextWithOIDC, out: { error: string; error_description?: string }, error: Error): Promise<void>;
}

export const providerCookies = { session: 'foyer_op', interaction: 'foyer_op_interaction', resume: 'foyer_op_resume' };

const daySeconds = 24 * 60 * 60;
const refreshTokenIdleSeconds = 14 * daySeconds;
export const refreshTokenTotalSeconds = 90 * daySeconds;

export const codeSeconds = 60;

/** The lifetime of the provider's session of a user, from its last use. */
export const sessionSeconds = (
  { transient }: { transient?: boolean | undefined },
  { idleMs, rememberMs }: { idleMs: number; rememberMs: number },
): number => Math.ceil((transient ? Math.max(idleMs, daySeconds * 1000) : rememberMs) / 1000);

/** The remaining lifetime of a refresh token. */
export function refreshTokenSeconds({ iiat }: { iiat?: number | undefined }, nowMs: number): number {
  const nowSeconds = nowMs / 1000;
  const total = (iiat ?? nowSeconds) + refreshTokenTotalSeconds - nowSeconds;
  return Math.max(1, Math.min(refreshTokenIdleSeconds, total) | 0);
}

/**
 * The library asks for each call of a script once it knows the client. Some libraries (keycloak-js) call with
 * `credentials: 'include'`; browsers show them the answer only with this header. These endpoints read no cookie
 * (docs/decisions/0022-scripts-with-credentials.md).
 */
function admitOrigin({ response }: KoaContextWithOIDC, origin: string, client: Client): boolean {
  // Servers send the header too. Without CORS headers no script reads the answer.
  if (client.clientAuthMethod !== 'none') {
    response.remove('Access-Control-Allow-Origin');
    return true;
  }
  const admitted = isOwnScriptOrigin(client, origin);
  if (admitted) response.set('Access-Control-Allow-Credentials', 'true');
  return admitted;
}

/** The users of requests: one read per request and user. */
function createUserLookup({ database, canAccessClient }: Pick<ProviderDeps, 'database' | 'canAccessClient'>) {
  const findUserById = (ctx: KoaContextWithOIDC, id: string) => findCurrentUser(database, toUserId(id), ctx.req);
  /** Tests whether the calling client app requires another plan than the user has. */
  const isShutOut = async (ctx: KoaContextWithOIDC, id: string | undefined): Promise<boolean> => {
    const { client } = ctx.oidc;
    if (!client || id === undefined || !isRestricted(client)) return false;
    const user = await findUserById(ctx, id);
    return user !== undefined && !canAccessClient(client, user);
  };
  return { findUserById, isShutOut };
}

type UserLookup = ReturnType<typeof createUserLookup>;

function cookieConfiguration({ cookies, cookieKeys }: ProviderDeps): Configuration['cookies'] {
  const cookie = { httpOnly: true, sameSite: 'lax' as const, secure: cookies.options.secure ?? false, signed: true };
  return {
    keys: cookieSignatures(cookieKeys),
    names: {
      session: cookies.name(providerCookies.session),
      interaction: cookies.name(providerCookies.interaction),
      // The library binds it to its path, so it cannot have the prefix.
      resume: providerCookies.resume,
    },
    long: { ...cookie, path: '/' },
    short: { ...cookie, path: '/' },
  };
}

function featureConfiguration(
  { proofNonceSecret, database }: ProviderDeps,
  { isShutOut }: UserLookup,
): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    claimsParameter: {
      enabled: true,
      assertClaimsParameter: (ctx, claims, client) => {
        if (ctx.oidc.params) ctx.oidc.params.claims = JSON.stringify(limitRequestedClaims(ctx, claims, client));
      },
    },
    clientCredentials: { enabled: true },
    deviceFlow,
    // Every proof needs a nonce, so that none can be made in advance, and clients' clocks do not matter.
    dPoP: { enabled: true, nonceSecret: proofNonceSecret, requireNonce: () => true },
    pushedAuthorizationRequests: { enabled: true },
    requestObjects: { enabled: true, assertJwtClaimsAndHeader: assertRequestObject },
    resourceIndicators: { enabled: true, getResourceServerInfo: createResourceServerInfo(database) },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    introspection: {
      enabled: true,
      allowedPolicy: async (ctx, client, token) =>
        token.clientId === client.clientId &&
        !(await isShutOut(ctx, 'accountId' in token ? token.accountId : undefined)),
    },
    // The outbox notifies client apps (backchannel-logouts.ts); the library's own code is never reached.
    backchannelLogout: { enabled: true },
    // Foyer renders both pages: see end-session.ts.
    rpInitiatedLogout: { enabled: true, logoutSource: () => {}, postLogoutSuccessSource: () => {} },
  };
}

function createFindAccount(
  { membershipClaims, withPicture }: ProviderDeps,
  { findUserById, isShutOut }: UserLookup,
): Configuration['findAccount'] {
  return async (ctx, sub, token) => {
    const user = await findUserById(ctx, sub);
    if (!user || user.disabledAt !== null) return undefined;
    // The client app must send the user to a sign-in, which leads to the set-up.
    if (token?.kind === 'RefreshToken' && mustSetUpSecondFactor(user)) return undefined;
    // In a browser the interaction policy answers; this check is for codes and tokens.
    if (token && (await isShutOut(ctx, sub))) return undefined;
    return {
      accountId: user.id,
      claims: async (use, scope, claims) => {
        const requested = Object.keys(claims);
        const isPictureAsked = scope.split(' ').includes('profile') || requested.includes('picture');
        const subject = withPicture !== undefined && isPictureAsked ? await withPicture(user) : user;
        return selectClaims(ctx, { use, scope, requested }, (scopes) =>
          claimsFor(subject, scopes, membershipClaims(user)),
        );
      },
    };
  };
}

function lifetimeConfiguration({ now, idleMs, rememberMs }: ProviderDeps): Configuration['ttl'] {
  return {
    AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? 60 * 60,
    AuthorizationCode: () => codeSeconds,
    ClientCredentials: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? 10 * 60,
    DeviceCode: () => deviceCodeSeconds,
    IdToken: (ctx) => (ctx?.oidc?.params?.response_mode === queryIdToken ? queryIdTokenSeconds : 60 * 60),
    Interaction: (ctx) => toLifetime(ctx?.req) / 1000,
    RefreshToken: (_ctx, token) => refreshTokenSeconds(token, now()),
    Session: (ctx, session) =>
      // Without a user it holds only what a page's form needs.
      session.accountId === undefined ? toLifetime(ctx?.req) / 1000 : sessionSeconds(session, { idleMs, rememberMs }),
    // A session reuses it as long as it exists, and it must outlive the last refresh token.
    Grant: () => Math.ceil(rememberMs / 1000) + refreshTokenTotalSeconds + daySeconds,
  };
}

/** Metadata for client apps and their operators that the library does not have (OpenID Connect Discovery 1.0). */
function discoveryMetadata({ issuer, privacyUrl, developersUrl }: ProviderDeps): Configuration['discovery'] {
  return {
    ui_locales_supported: [...languages],
    display_values_supported: ['page', 'popup'],
    // Initiating User Registration 1.0, section 5.
    prompt_values_supported: ['none', 'login', 'consent'],
    op_tos_uri: `${issuer}/tos`,
    ...(privacyUrl !== undefined && { op_policy_uri: privacyUrl }),
    service_documentation: developersUrl ?? issuer + apiReferencePath,
  };
}

/** The settings of the library: Foyer disables what it leaves open. */
export function createConfiguration(deps: ProviderDeps, keys: JWK[]): Configuration {
  const users = createUserLookup(deps);
  return {
    adapter: createAdapterFactory(deps),
    routes,
    jwks: { keys },
    cookies: cookieConfiguration(deps),
    scopes: [...knownScopes],
    claims: {
      ...claimsByScope,
      profile: listProfileClaims(deps.withheldFields),
      openid: ['sub', 'auth_time', 'amr', 'acr'],
    },
    acrValues: [...acrValues],
    // token-claims.ts decides: the specification's short forms return only the id token.
    conformIdTokenClaims: false,
    responseTypes: ['code', 'id_token'],
    subjectTypes: ['public'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: {
      idTokenSigningAlgValues: ['ES256', 'RS256'],
      dPoPSigningAlgValues: proofAlgorithms,
      clientAuthSigningAlgValues: [...clientAssertionAlgorithms],
      // Never HS256: the library would take the stored hash of the client's secret as its key.
      requestObjectSigningAlgValues: [...clientAssertionAlgorithms],
    },
    assertJwtClientAuthClaimsAndHeader: assertClientAssertion,
    extraClientMetadata: { properties: [...extraMetadata] },
    pkce: { required: requiresChallenge },
    extraParams: {
      scope: requireGrantableScope,
      ...Object.fromEntries(providerParameters.map((name) => [name, null])),
    },
    discovery: discoveryMetadata(deps),
    // OpenID Connect requires it at both endpoints, also if a client has registered only one address.
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: admitOrigin,
    features: featureConfiguration(deps, users),
    interactions: {
      policy: createInteractionPolicy(deps),
      url: (ctx, interaction) => deps.interactionUrl(ctx, interaction),
    },
    loadExistingGrant: createLoadGrant(deps),
    // Foyer's own index ends grants with the session, so that a second sign-in does not end the first one's tokens.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client, code) =>
      client.grantTypeAllowed('refresh_token') && (client.first_party === true || code.scopes.has('offline_access')),
    // Only tokens of public clients are usable by a thief (RFC 9700, section 2.2.2).
    rotateRefreshToken: ({ oidc }) => oidc.client?.clientAuthMethod === 'none' && !oidc.entities.RefreshToken?.jkt,
    // Always the grant: there is no list of its dependent records (see short-lived-adapter.ts).
    revokeGrantPolicy: () => true,
    extraTokenClaims: accessTokenClaims,
    findAccount: createFindAccount(deps, users),
    ttl: lifetimeConfiguration(deps),
    renderError: (ctx, out, error) => deps.renderError(ctx, out, error),
  };
}
