import type { Request, RequestHandler, Response } from 'express';
import { continuationFrom, readFormField, renderRedirectPage } from '../http/index.ts';
import { parseIdentifier } from '../users/index.ts';
import type { FederationIntent } from './attempts.ts';
import { logRefusal, requireProvider } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import type { Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';
import { type StartAttemptInput, startAttempt } from './start-attempt.ts';

/**
 * Redirects this browser to a provider to sign in there, or back to the sign-in page with the reason of the refusal.
 */
export async function startSignIn(
  deps: FederationDeps,
  req: Request,
  res: Response,
  provider: Provider,
  { at, ...beginning }: StartAttemptInput & Pick<Extract<FederationIntent, { kind: 'sign-in' }>, 'at'>,
): Promise<void> {
  const intent: FederationIntent = { kind: 'sign-in', at };
  try {
    // A user who is already signed in, or must authenticate again, needs a fresh authentication at the provider too: a
    // client app must not get `auth_time` of a session there.
    const forceFresh =
      req.query.forceAuth !== undefined ||
      (await deps.sessions.getCurrentUser(req)) !== undefined ||
      (await deps.requiresFreshAuthentication(req, beginning.continuation));
    const url = await startAttempt(deps, req, res, provider, intent, { ...beginning, forceFresh });
    renderRedirectPage(deps.pages, req, res, url, { providerName: provider.name });
  } catch (error) {
    const { kind } = logRefusal(deps, provider, error);
    res.redirect(303, loginPageUrl({ intent, continuation: beginning.continuation.search }, provider, kind));
  }
}

/** The typed text, if it is an address: the provider need not ask for it again. */
function readTypedEmail(req: Request): string | undefined {
  const typed = parseIdentifier(readFormField(req, 'username'));
  return typed && 'email' in typed ? typed.email : undefined;
}

/** POST /federation/<provider>: its button. A password in the same form is ignored. */
export function submitStartSignIn(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const provider = requireProvider(deps, req);
    await startSignIn(deps, req, res, provider, {
      continuation: continuationFrom(req, deps.publicUrl),
      remember: readFormField(req, 'remember') === '1',
      loginHint: readTypedEmail(req),
      at: readFormField(req, 'at') === 'sign-up' ? 'sign-up' : undefined,
    });
  };
}
