import type Provider from 'oidc-provider';
import type { JWK, KoaContextWithOIDC } from 'oidc-provider';
import type { Logger } from '../http/index.ts';
import { countPasskeys } from '../passkeys/index.ts';
import { sha256, toClientId, toUserId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { createInteractionUrl } from './authorization-requests.ts';
import { recordUse } from './connected-app-store.ts';
import type { OidcDeps } from './deps.ts';
import { createDevicePages } from './device-pages.ts';
import { endLocalSession } from './end-session.ts';
import { createRenderError } from './error-page.ts';
import { allowFormPost } from './form-post.ts';
import type { PolicyDeps } from './interaction-policy.ts';
import { fillInForLegacy } from './legacy-requests.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { allowPopups } from './popup.ts';
import { createProvider, prolongUsedTokens } from './provider.ts';
import type { ProviderDeps } from './provider-configuration.ts';
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
}

const findAvailableFactors = async ({ db }: Database, { id, mfaPreference }: User) => ({
  secondFactor: mfaPreference !== 'none',
  passkey: (await countPasskeys(db, id)) > 0,
});

/** Creates the provider for a set of signing keys: the library, with the handlers that Foyer adds to it. */
export function createProviderBuilder(
  settings: OidcSettings,
  { deps, grants, sessionGrants, toNextStep, serverLogout }: ProviderParts,
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
    recordUses(provider, database, { now, log });
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

/** The bound of the connections in memory whose use was recorded. */
const maxRecorded = 10_000;
const recordAgainMs = 10 * 60_000;

/**
 * Records when a user's connected app last got tokens. A failure is only logged, so that the tokens are still issued.
 * The record has steps of an hour: within ten minutes this process does not ask the database again.
 */
function recordUses(provider: Provider, { db }: Database, { now, log }: { now: () => number; log: Logger }): void {
  const recorded = new Map<string, number>();
  provider.on('grant.success', (ctx: KoaContextWithOIDC) => {
    const { client, account } = ctx.oidc;
    if (!client || !account) return;
    const key = `${account.accountId} ${client.clientId}`;
    const nowMs = now();
    if (Math.abs(nowMs - (recorded.get(key) ?? Number.NEGATIVE_INFINITY)) < recordAgainMs) return;
    if (recorded.size >= maxRecorded) recorded.clear();
    recorded.set(key, nowMs);
    recordUse(db, { userId: toUserId(account.accountId), clientId: toClientId(client.clientId), nowMs }).catch(
      (error: unknown) => {
        recorded.delete(key);
        log.warn({ err: error }, 'could not record the use of a connected app');
      },
    );
  });
}
