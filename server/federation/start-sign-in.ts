import type { RequestContext } from '../http/index.ts';
import { parseIdentifier } from '../users/index.ts';
import type { FederationIntent } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { type Provider, requireProvider } from './providers.ts';
import { redirectRefused } from './refusals.ts';
import { type StartAttemptInput, startAttempt } from './start-attempt.ts';

export type StartSignInInput = Omit<StartAttemptInput, 'intent'> &
  Pick<Extract<FederationIntent, { kind: 'sign-in' }>, 'at'>;

/**
 * Redirects this browser to a provider to sign in there, or back to the sign-in page with the reason of the refusal.
 */
export async function startSignIn(
  r: RequestContext,
  deps: FederationDeps,
  { provider, at, ...beginning }: StartSignInInput & { provider: Provider },
): Promise<void> {
  const intent: FederationIntent = { kind: 'sign-in', at };
  try {
    // A user who is already signed in, or must authenticate again, needs a fresh authentication at the provider too: a
    // client app must not get `auth_time` of a session there.
    const forceFresh =
      r.req.query.forceAuth !== undefined ||
      (await deps.sessions.getCurrentUser(r.req)) !== undefined ||
      (await deps.requiresFreshAuthentication(r, beginning.continuation));
    const url = await startAttempt(r, deps, { ...beginning, provider, intent, forceFresh });
    r.redirectAway(url, { providerName: provider.name });
  } catch (error) {
    redirectRefused(r, deps, { provider, attempt: { intent, continuation: beginning.continuation.search }, error });
  }
}

/** The typed text, if it is an address: the provider need not ask for it again. */
function readTypedEmail(r: RequestContext): string | undefined {
  const typed = parseIdentifier(r.field('username'));
  return typed && 'email' in typed ? typed.email : undefined;
}

/** POST /federation/<provider>: its button. A password in the same form is ignored. */
export async function submitStartSignIn(r: RequestContext, deps: FederationDeps): Promise<void> {
  await startSignIn(r, deps, {
    provider: requireProvider(r, deps),
    continuation: r.continuation,
    remember: r.field('remember') === '1',
    loginHint: readTypedEmail(r),
    at: r.field('at') === 'sign-up' ? 'sign-up' : undefined,
  });
}
