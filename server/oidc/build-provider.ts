import type Provider from 'oidc-provider';
import type { JWK, KoaContextWithOIDC } from 'oidc-provider';
import { countPasskeys } from '../passkeys/index.ts';
import { sha256 } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { createInteractionUrl } from './authorization-requests.ts';
import type { RecordUse } from './connected-app-store.ts';
import type { OidcDeps } from './deps.ts';
import { createDevicePages } from './device-pages.ts';
import { endLocalSession } from './end-session.ts';
import { createRenderError } from './error-page.ts';
import { allowFormPost } from './form-post.ts';
import { keepSigningKeys } from './id-token-signer.ts';
import type { PolicyDeps } from './interaction-policy.ts';
import { fillInForLegacy } from './legacy-requests.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { allowPopups } from './popup.ts';
import { createProvider, prolongUsedTokens } from './provider.ts';
import type { ProviderDeps } from './provider-configuration.ts';
import { giveCookiesMaxAge } from './provider-cookies.ts';
import { allowIdTokenInQuery } from './query-response-mode.ts';
import { createRefreshAnswers } from './refresh-token-reuse.ts';
import { reportRefusals } from './refusals.ts';
import { introspectResourceTokens } from './resource-tokens.ts';
import { requireAnswerOwner } from './resume-guard.ts';
import { answerServerErrors } from './server-errors.ts';
import type { ServerLogout } from './server-logout.ts';
import { countIssuedTokens } from './token-metrics.ts';

/** The parts of the module that the provider uses. */
interface ProviderParts extends Pick<ProviderDeps, 'grants' | 'sessionGrants'>, Pick<PolicyDeps, 'toNextStep'> {
  deps: OidcDeps;
  serverLogout: ServerLogout;
  recordUse: RecordUse;
}

const findAvailableFactors = async ({ db }: Database, { id, mfaPreference }: User) => ({
  secondFactor: mfaPreference !== 'none',
  passkey: (await countPasskeys(db, id)) > 0,
});

/** Creates the provider for a set of signing keys: the library, with the handlers that Foyer adds to it. */
export function createProviderBuilder(
  settings: OidcSettings,
  { deps, grants, sessionGrants, toNextStep, serverLogout, recordUse }: ProviderParts,
): (keys: JWK[]) => Provider {
  const { database, kv, visitorGate, oidcBox, metrics, now, log } = settings;
  const { sessions, requests, canAccessClient } = deps;
  const answers = createRefreshAnswers(kv, oidcBox, now);
  const providerDeps: ProviderDeps = {
    ...settings,
    issuer: settings.publicUrl,
    box: oidcBox,
    grants,
    answers,
    sessionGrants,
    toNextStep,
    canAccessClient,
    member: sessions.getCurrentUser,
    availableFactors: (user) => findAvailableFactors(database, user),
    interactionUrl: createInteractionUrl(requests, { kv, gate: visitorGate }),
    renderError: createRenderError(deps),
  };
  return (keys) => {
    const provider = createProvider(providerDeps, keys);
    // The order counts: each of them surrounds the following ones.
    answerServerErrors(provider, log);
    reportRefusals(provider, settings);
    giveCookiesMaxAge(provider);
    requireAnswerOwner(provider, deps);
    endLocalSession(provider, deps);
    fillInForLegacy(provider);
    allowIdTokenInQuery(provider);
    allowFormPost(provider, deps);
    allowPopups(provider);
    createDevicePages(provider, { ...deps, kv, limits: settings.limits });
    introspectResourceTokens(provider, { database, keys, canAccessClient, now });
    serverLogout.attach(provider);
    addIssParameter(provider);
    answers.attach(provider, sha256);
    prolongUsedTokens(provider, now);
    countIssuedTokens(provider, metrics);
    provider.on('grant.success', ({ oidc: { account, client } }: KoaContextWithOIDC) => {
      if (account && client) recordUse({ accountId: account.accountId, clientId: client.clientId });
    });
    keepSigningKeys(provider, keys);
    return provider;
  };
}

/** Standard response modes for id tokens; the specification's short form sends only the token. */
const modes: ReadonlySet<string | undefined> = new Set(['fragment', 'form_post']);

/**
 * Every authorization response names its issuer (RFC 9207, section 2). The library omits it beside an id token, which
 * names it too, but discovery promises the parameter.
 */
function addIssParameter(provider: Provider): void {
  const emitter: NodeJS.EventEmitter = provider;
  emitter.on('authorization.success', ({ oidc }: KoaContextWithOIDC, answer: Record<string, unknown>) => {
    if (modes.has(oidc.responseMode)) answer.iss ??= provider.issuer;
  });
}
