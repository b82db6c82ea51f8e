import type { RequestHandler } from 'express';
import { FederationRefusal, wayBack } from '../federation/index.ts';
import { HttpError, sendGoingOnPage } from '../http/index.ts';
import { currentSession } from '../session/index.ts';
import type { SignInDeps } from './deps.ts';
import { linkedProviders } from './linked-providers.ts';
import { askInstead, errandAgain } from './re-authenticate.ts';

/** POST /re-authenticate/provider/<provider>: the member who is signed in shows again who they are, there. */
export function confirmByProvider(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const member = await deps.sessions.member(req);
    const session = currentSession(req);
    if (!member || !session) return askInstead(deps, req, res);
    const { user } = member;
    const linked = (await linkedProviders(deps, req, user)).find(({ provider: { id } }) => id === req.params.provider);
    if (!linked) throw new HttpError('notFound');
    const { provider, email } = linked;
    const errand = errandAgain(req, deps.publicUrl);
    const intent = { kind: 're-authenticate', userId: user.id, sessionIdHash: session.idHash } as const;
    try {
      const { remember } = session;
      const beginning = { errand, remember, loginHint: email ?? undefined };
      const address = await deps.federation.begin(req, res, provider, intent, beginning);
      sendGoingOnPage(deps.pages, req, res, address, { providerName: provider.name });
    } catch (error) {
      if (!(error instanceof FederationRefusal)) throw error;
      deps.log.info({ act: 're-authenticate', provider: provider.id, outcome: error.kind }, 're-authentication');
      res.redirect(303, wayBack({ intent, errand: errand.search }, provider, error.kind));
    }
  };
}
