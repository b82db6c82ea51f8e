import type { RequestHandler } from 'express';
import { FederationError, loginPageUrl } from '../federation/index.ts';
import { HttpError, renderRedirectPage } from '../http/index.ts';
import { getCurrentSession } from '../sessions/index.ts';
import type { SignInDeps } from './deps.ts';
import { listLinkedProviders } from './linked-provider-buttons.ts';
import { reauthContinuation, redirectToSignInInstead } from './reauthenticate-handlers.ts';

/** POST /re-authenticate/provider/<provider>: the signed-in user re-authenticates there. */
export function reauthenticateByProvider(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.getCurrentUser(req);
    const session = getCurrentSession(req);
    if (!member || !session) return redirectToSignInInstead(deps, req, res);
    const { user } = member;
    const linked = (await listLinkedProviders(deps, req, user)).find(
      ({ provider: { id } }) => id === req.params.provider,
    );
    if (!linked) throw new HttpError('notFound');
    const { provider, email } = linked;
    const continuation = reauthContinuation(req, deps.publicUrl);
    const intent = { kind: 're-authenticate', userId: user.id, sessionIdHash: session.idHash } as const;
    try {
      const { remember } = session;
      const beginning = { continuation, remember, loginHint: email ?? undefined };
      const address = await deps.federation.begin(req, res, provider, intent, beginning);
      renderRedirectPage(deps.pages, req, res, address, { providerName: provider.name });
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      deps.log.info({ act: 're-authenticate', provider: provider.id, outcome: error.kind }, 're-authentication');
      res.redirect(303, loginPageUrl({ intent, continuation: continuation.search }, provider, error.kind));
    }
  };
}
