import type { Request } from 'express';
import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { type CurrentSession, toAcr } from '../sessions/index.ts';
import { blocksAuthorization, type Step } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import type { CanAccessClient } from './access-rule.ts';
import { consentReason } from './load-existing-grant.ts';
import { isClientScope } from './scopes.ts';
import { type AvailableFactors, assertedAcr, decideStepUp, parseRequestedAcr } from './step-up.ts';

export interface PolicyDeps {
  member(req: Request): Promise<{ user: User; session: CurrentSession } | undefined>;
  toNextStep(user: User): Step;
  availableFactors(user: User): Promise<AvailableFactors>;
  mayEnter: CanAccessClient;
}

/** Reasons for which any sign-in will do, also one from before the request; every other one wants a fresh one. */
export const freshReasons: ReadonlySet<string> = new Set(['no_session', 'foyer_session', 'next_step', 'membership']);

/** Whom the request's `id_token_hint` names. The library checked its signature when the request began, and kept it. */
function findHintedUser(hint: unknown): string | undefined {
  if (typeof hint !== 'string') return undefined;
  const payload: unknown = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString() || 'null');
  return typeof payload === 'object' && payload !== null && 'sub' in payload ? String(payload.sub) : undefined;
}

/**
 * The library's own policy with seven checks beside the rest. `members_scope`: what only client apps themselves are given
 * is refused before anybody is asked for it, whoever has registered it. `foyer_session`: the provider's session and ours must name
 * the same living member (the second lock of `security.md`, rule 1). `next_step`: a live session does not skip the
 * dispatcher, so new terms stop a silent code too (rule 3). `membership`: a client app may be for some plans alone
 * (access-rule.ts), and nobody who signed in to it once stays in for that. `hinted_member`: the library compares the hint only when the
 * request begins; whoever signs in for it, or for a `sub` of the `claims` parameter, must be the one it names, else the client
 * app gets an error (OpenID Connect Core 1.0, sections 3.1.2.1 and 5.5.1). `max_age_zero`: to the library a sign-in of this very second is young enough for it; it is to be
 * as `prompt=login` (OpenID Connect Core 1.0, errata set 2, section 3.1.2.1). `acr` takes the place of the library's two, which
 * know nothing of `acr_values` and of what is surer than what was asked for (step-up.ts).
 */
export function createInteractionPolicy({
  member,
  toNextStep,
  availableFactors,
  mayEnter,
}: PolicyDeps): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const login = policy.get('login');
  if (!login) throw new Error('the library has no login prompt');
  const { Check } = interactionPolicy;
  const findCurrentUser = (ctx: KoaContextWithOIDC) => member(ctx.req as Request);

  login.checks.add(
    new Check('members_scope', 'a scope that no End-User can give', 'invalid_scope', (ctx) => {
      const foreign = [...ctx.oidc.requestParamScopes].find(isClientScope);
      if (foreign !== undefined) throw new errors.InvalidScope('requested scope is not allowed', foreign);
      return Check.NO_NEED_TO_PROMPT;
    }),
  );
  login.checks.add(
    new Check('foyer_session', 'End-User authentication is required', 'login_required', async (ctx) => {
      const accountId = ctx.oidc.session?.accountId;
      if (accountId === undefined) return Check.NO_NEED_TO_PROMPT;
      const found = await findCurrentUser(ctx);
      return found?.user.id === accountId ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  login.checks.add(
    new Check('next_step', 'the End-User has a step to take first', 'interaction_required', async (ctx) => {
      const found = await findCurrentUser(ctx);
      return found && blocksAuthorization(toNextStep(found.user)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    }),
  );
  login.checks.add(
    new Check('membership', 'the End-User needs another plan', 'interaction_required', async (ctx) => {
      const { client, prompts, grant } = ctx.oidc;
      const found = await findCurrentUser(ctx);
      if (!found || !client || mayEnter(client, found.user)) return Check.NO_NEED_TO_PROMPT;
      // Whoever has not consented yet is not told about in silence: the error would say which plan they have not.
      const holdsNothing = !grant?.getOIDCScope() && Object.keys(grant?.resources ?? {}).length === 0;
      const isStranger = consentReason(client) !== undefined && holdsNothing;
      return isStranger && prompts.has('none') ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  login.checks.add(
    new Check('hinted_member', 'another End-User was asked for', 'login_required', (ctx) => {
      const expected = findHintedUser(ctx.oidc.params?.id_token_hint) ?? ctx.oidc.claims?.id_token?.sub?.value;
      if (expected === undefined || expected === ctx.oidc.session?.accountId) return Check.NO_NEED_TO_PROMPT;
      if (ctx.oidc.result?.login) throw new errors.LoginRequired('another End-User was asked for');
      return Check.REQUEST_PROMPT;
    }),
  );
  login.checks.add(
    new Check('max_age_zero', 'End-User authentication is required', 'login_required', ({ oidc }) => {
      // Of a device's request the library writes down that it wants a sign-in, and never reads it.
      const ofDevice = String(oidc.entities.DeviceCode?.params?.prompt ?? '').split(' ');
      const expected = Number(oidc.params?.max_age ?? Number.NaN) === 0 || ofDevice.includes('login');
      return expected && !oidc.result?.login ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    }),
  );
  for (const reason of ['essential_acrs', 'essential_acr']) login.checks.remove(reason);
  login.checks.add(
    new Check('acr', 'a surer End-User authentication is required', 'login_required', async (ctx) => {
      const { session, params = {}, prompts, result } = ctx.oidc;
      const found = session?.accountId === undefined ? undefined : await findCurrentUser(ctx);
      // Who is not signed in is asked for that first.
      if (found?.user.id !== session?.accountId || !found) return Check.NO_NEED_TO_PROMPT;
      const acr = toAcr(found.session.amr);
      const expected = parseRequestedAcr(params);
      // The library puts into id tokens what its context says.
      Object.defineProperty(ctx.oidc, 'acr', {
        value: expected ? assertedAcr(expected, acr) : acr,
        configurable: true,
      });
      if (!expected) return Check.NO_NEED_TO_PROMPT;
      const alreadyAsked = result?.stepUp === true;
      switch (decideStepUp(expected, { acr, alreadyAsked, ...(await availableFactors(found.user)) })) {
        case 'enough':
          return Check.NO_NEED_TO_PROMPT;
        case 'ask':
          // Voluntary: less will do for a client app that wants nobody to be asked.
          return expected.essential || !prompts.has('none') ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
        case 'unmet':
          if (!expected.essential) return Check.NO_NEED_TO_PROMPT;
          throw new errors.CustomOIDCProviderError(
            'unmet_authentication_requirements',
            'the End-User cannot sign in as surely as that',
          );
      }
    }),
  );
  return policy;
}
