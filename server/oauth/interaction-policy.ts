import type { Request } from 'express';
import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { User } from '../account/index.ts';
import type { CurrentSession } from '../session/index.ts';
import { type Step, standsBeforeAuthorization } from '../sign-in/index.ts';
import { isClientScope } from './scopes.ts';

export interface PolicyDeps {
  member(req: Request): Promise<{ user: User; session: CurrentSession } | undefined>;
  stepOf(user: User): Step;
}

/** Reasons for which any sign-in will do, also one from before the request; every other one wants a fresh one. */
export const satisfiedByAnySignIn: ReadonlySet<string> = new Set(['no_session', 'foyer_session', 'next_step']);

/** Whom the request's `id_token_hint` names. The library checked its signature when the request began, and kept it. */
function hintedMember(hint: unknown): string | undefined {
  if (typeof hint !== 'string') return undefined;
  const payload: unknown = JSON.parse(Buffer.from(hint.split('.')[1] ?? '', 'base64url').toString() || 'null');
  return typeof payload === 'object' && payload !== null && 'sub' in payload ? String(payload.sub) : undefined;
}

/**
 * The library's own policy with four checks beside the rest. `members_scope`: what only client apps themselves are given
 * is refused before anybody is asked for it, whoever has registered it. `foyer_session`: the provider's session and ours must name
 * the same living member (the second lock of `security.md`, rule 1). `next_step`: a live session does not skip the
 * dispatcher, so new terms stop a silent code too (rule 3). `hinted_member`: the library compares the hint only when the
 * request begins; whoever signs in for it must be the one it names, else the client app gets an error (OpenID Connect
 * Core 1.0, section 3.1.2.1).
 */
export function createInteractionPolicy({ member, stepOf }: PolicyDeps): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  const login = policy.get('login');
  if (!login) throw new Error('the library has no login prompt');
  const { Check } = interactionPolicy;
  const memberOf = (ctx: KoaContextWithOIDC) => member(ctx.req as Request);

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
      const found = await memberOf(ctx);
      return found?.user.id === accountId ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  login.checks.add(
    new Check('next_step', 'the End-User has a step to take first', 'interaction_required', async (ctx) => {
      const found = await memberOf(ctx);
      return found && standsBeforeAuthorization(stepOf(found.user)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    }),
  );
  login.checks.add(
    new Check('hinted_member', 'another End-User was asked for', 'login_required', (ctx) => {
      const wanted = hintedMember(ctx.oidc.params?.id_token_hint);
      if (wanted === undefined || wanted === ctx.oidc.session?.accountId) return Check.NO_NEED_TO_PROMPT;
      if (ctx.oidc.result?.login) throw new errors.LoginRequired('another End-User was asked for');
      return Check.REQUEST_PROMPT;
    }),
  );
  return policy;
}
