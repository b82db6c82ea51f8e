import type Provider from 'oidc-provider';
import type { JWK } from 'oidc-provider';
import { countPasskeys } from '../passkeys/index.ts';
import { sha256 } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { createInteractionUrl } from './authorization-requests.ts';
import type { OidcDeps } from './deps.ts';
import { createDevicePages } from './device-pages.ts';
import { endLocalSession } from './end-session.ts';
import { createRenderError } from './error-page.ts';
import { allowFormPost } from './form-post.ts';
import type { PolicyDeps } from './interaction-policy.ts';
import { addIssParameter } from './iss-parameter.ts';
import { fillInForLegacy } from './legacy-requests.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { allowPopups } from './popup.ts';
import { createProvider, prolongUsedTokens } from './provider.ts';
import type { ProviderDeps } from './provider-configuration.ts';
import { allowIdTokenInQuery } from './query-response-mode.ts';
import { recordUses } from './record-uses.ts';
import { createRefreshAnswers } from './refresh-token-reuse.ts';
import { requireAnswerOwner } from './resume-guard.ts';
import { introspectStructuredTokens } from './structured-tokens.ts';
import { countIssuedTokens } from './token-metrics.ts';

/** The parts of the module that the provider uses. */
interface ProviderParts extends Pick<ProviderDeps, 'grants' | 'sessionGrants'>, Pick<PolicyDeps, 'toNextStep'> {
  deps: OidcDeps;
}

const findAvailableFactors = async ({ db }: Database, { id, mfaPreference }: User) => ({
  secondFactor: mfaPreference !== 'none',
  passkey: (await countPasskeys(db, id)) > 0,
});

/** Creates the provider for a set of signing keys: the library, with the handlers that Foyer adds to it. */
export function createProviderBuilder(
  settings: OidcSettings,
  { deps, grants, sessionGrants, toNextStep }: ProviderParts,
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
    onServerError: (_ctx, error) => log.error({ err: error }, 'OpenID Provider failed'),
  };
  return (keys) => {
    const provider = createProvider(providerDeps, keys);
    // The order counts: each of them surrounds the following ones.
    requireAnswerOwner(provider, deps);
    endLocalSession(provider, deps);
    fillInForLegacy(provider);
    allowIdTokenInQuery(provider);
    allowFormPost(provider);
    allowPopups(provider);
    createDevicePages(provider, { ...deps, kv, limits: settings.limits });
    introspectStructuredTokens(provider);
    addIssParameter(provider);
    answers.attach(provider, sha256);
    prolongUsedTokens(provider, now);
    countIssuedTokens(provider, metrics);
    recordUses(provider, database, { now, log });
    return provider;
  };
}
