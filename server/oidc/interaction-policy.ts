import type { Request } from 'express';
import { errors, interactionPolicy } from 'oidc-provider';
import { type CurrentSession, toAcr } from '../sessions/index.ts';
import { parseUnknownJson } from '../shared/index.ts';
import { blocksAuthorization, type Step } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import { consentReason } from './load-existing-grant.ts';
import { toExpressRequest } from './routes-table.ts';
import { isClientScope } from './scopes.ts';
import { type AvailableFactors, assertedAcr, decideStepUp, parseRequestedAcr } from './step-up.ts';

export interface PolicyDeps {
  member(req: Request): Promise<{ user: User; session: CurrentSession } | undefined>;
  toNextStep(user: User): Step;
  availableFactors(user: User): Promise<AvailableFactors>;
  canAccessClient: CanAccessClient;
}

/** Reasons for which any authentication suffices, also one before the request; all others require a fresh one. */
export const freshReasons: ReadonlySet<string> = new Set(['no_session', 'foyer_session', 'next_step', 'membership']);

/**
 * The user whom the request's `id_token_hint` names. The library verified its signature when the request started, and
 * stored it.
 */
function findHintedUser(hint: unknown): string | undefined {
  if (typeof hint !== 'string') return undefined;
  const payload = parseUnknownJson(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString() || 'null');
  return typeof payload === 'object' && payload !== null && 'sub' in payload ? String(payload.sub) : undefined;
}

const { Check } = interactionPolicy;

const clientScopeCheck = () =>
  new Check('members_scope', 'a scope that no End-User can give', 'invalid_scope', (ctx) => {
    const foreign = [...ctx.oidc.requestParamScopes].find(isClientScope);
    if (foreign !== undefined) throw new errors.InvalidScope('requested scope is not allowed', foreign);
    return Check.NO_NEED_TO_PROMPT;
  });

const sessionCheck = ({ member }: PolicyDeps) =>
  new Check('foyer_session', 'End-User authentication is required', 'login_required', async (ctx) => {
    const accountId = ctx.oidc.session?.accountId;
    if (accountId === undefined) return Check.NO_NEED_TO_PROMPT;
    const found = await member(toExpressRequest(ctx.req));
    return found?.user.id === accountId ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
  });

const nextStepCheck = ({ member, toNextStep }: PolicyDeps) =>
  new Check('next_step', 'the End-User has a step to take first', 'interaction_required', async (ctx) => {
    const found = await member(toExpressRequest(ctx.req));
    return found && blocksAuthorization(toNextStep(found.user)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
  });

const membershipCheck = ({ member, canAccessClient }: PolicyDeps) =>
  new Check('membership', 'the End-User needs another plan', 'interaction_required', async (ctx) => {
    const { client, prompts, grant } = ctx.oidc;
    const found = await member(toExpressRequest(ctx.req));
    if (!found || !client || canAccessClient(client, found.user)) return Check.NO_NEED_TO_PROMPT;
    // Do not reveal a missing plan to a client that the user has not consented to (`prompt=none`).
    const holdsNothing = !grant?.getOIDCScope() && Object.keys(grant?.resources ?? {}).length === 0;
    const isStranger = consentReason(client) !== undefined && holdsNothing;
    return isStranger && prompts.has('none') ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
  });

const hintedUserCheck = () =>
  new Check('hinted_member', 'another End-User was asked for', 'login_required', (ctx) => {
    const expected = findHintedUser(ctx.oidc.params?.id_token_hint) ?? ctx.oidc.claims?.id_token?.sub?.value;
    if (expected === undefined || expected === ctx.oidc.session?.accountId) return Check.NO_NEED_TO_PROMPT;
    if (ctx.oidc.result?.login) throw new errors.LoginRequired('another End-User was asked for');
    return Check.REQUEST_PROMPT;
  });

const maxAgeZeroCheck = () =>
  new Check('max_age_zero', 'End-User authentication is required', 'login_required', ({ oidc }) => {
    // The library stores the prompt of a device's request but never reads it.
    const ofDevice = String(oidc.entities.DeviceCode?.params?.prompt ?? '').split(' ');
    const expected = Number(oidc.params?.max_age ?? Number.NaN) === 0 || ofDevice.includes('login');
    return expected && !oidc.result?.login ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
  });

const acrCheck = ({ member, availableFactors }: PolicyDeps) =>
  new Check('acr', 'a surer End-User authentication is required', 'login_required', async (ctx) => {
    const { session, params = {}, prompts, result } = ctx.oidc;
    const found = session?.accountId === undefined ? undefined : await member(toExpressRequest(ctx.req));
    // A visitor who is not signed in signs in first.
    if (found?.user.id !== session?.accountId || !found) return Check.NO_NEED_TO_PROMPT;
    const acr = toAcr(found.session.amr);
    const expected = parseRequestedAcr(params);
    // The library copies this context value into id tokens.
    Object.defineProperty(ctx.oidc, 'acr', {
      value: expected ? assertedAcr(expected, acr) : acr,
      configurable: true,
    });
    if (!expected) return Check.NO_NEED_TO_PROMPT;
    const alreadyAsked = result?.stepUp === true;
    switch (decideStepUp(expected, { acr, alreadyAsked, ...(await availableFactors(found.user)) })) {
      case 'satisfied':
        return Check.NO_NEED_TO_PROMPT;
      case 'prompt':
        // Voluntary: a client app with `prompt=none` accepts less.
        return expected.essential || !prompts.has('none') ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
      case 'unmet':
        if (!expected.essential) return Check.NO_NEED_TO_PROMPT;
        throw new errors.CustomOIDCProviderError(
          'unmet_authentication_requirements',
          'the End-User cannot sign in as surely as that',
        );
    }
  });

/**
 * The library's own policy with seven additional checks:
 * - `members_scope`: scopes that only client apps themselves get are refused before a user is asked, whatever the
 *   registration says.
 * - `foyer_session`: the provider's session and Foyer's must belong to the same live user (the second lock of
 *   `security.md`, rule 1).
 * - `next_step`: a live session does not skip the next step, so new terms stop a silent code too (rule 3).
 * - `membership`: a client app may require a plan (access-rule.ts); an earlier sign-in to it does not replace the plan.
 * - `hinted_member`: the library compares the hint only when the request starts. The user who signs in for it, or for a
 *   `sub` of the `claims` parameter, must be the named one, else the client app gets an error (OpenID Connect Core 1.0,
 *   sections 3.1.2.1 and 5.5.1).
 * - `max_age_zero`: the library accepts an authentication of the same second; the standard wants the behavior of
 *   `prompt=login` (OpenID Connect Core 1.0, errata set 2, section 3.1.2.1).
 * - `acr`: replaces the library's two checks, which ignore `acr_values` and do not know that a stronger class satisfies
 *   a weaker one (step-up.ts).
 */
export function createInteractionPolicy(deps: PolicyDeps): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const login = policy.get('login');
  if (!login) throw new Error('the library has no login prompt');
  for (const reason of ['essential_acrs', 'essential_acr']) login.checks.remove(reason);
  // Requested claims are those of scopes (token-claims.ts), for which the user is asked.
  policy.get('consent')?.checks.remove('op_claims_missing');
  login.checks.add(clientScopeCheck());
  login.checks.add(sessionCheck(deps));
  login.checks.add(nextStepCheck(deps));
  login.checks.add(membershipCheck(deps));
  login.checks.add(hintedUserCheck());
  login.checks.add(maxAgeZeroCheck());
  login.checks.add(acrCheck(deps));
  return policy;
}
