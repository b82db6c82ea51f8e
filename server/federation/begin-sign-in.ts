import type { Request, RequestHandler, Response } from 'express';
import { identifierOf } from '../account/index.ts';
import { errandOf, field, sendGoingOnPage } from '../http/index.ts';
import type { Intent } from './attempts.ts';
import { type Beginning, beginAttempt } from './begin.ts';
import { providerOf, reportRefusal } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { wayBack } from './notices.ts';
import type { Provider } from './providers.ts';

/** Leads this browser to a provider to sign in there, or back to the sign-in page with the reason why not. */
export async function beginSignIn(
  deps: FederationDeps,
  req: Request,
  res: Response,
  provider: Provider,
  { at, ...beginning }: Beginning & Pick<Extract<Intent, { kind: 'sign-in' }>, 'at'>,
): Promise<void> {
  const intent: Intent = { kind: 'sign-in', at };
  try {
    // Who is signed in already, or was told to sign in anew, is to show again who they are: there, too; a client app that
    // wants it is not told so of somebody whom the provider let through by a session.
    const again =
      req.query.forceAuth !== undefined ||
      (await deps.sessions.member(req)) !== undefined ||
      (await deps.wantsAnew(req, beginning.errand));
    const url = await beginAttempt(deps, req, res, provider, intent, { ...beginning, again });
    sendGoingOnPage(deps.pages, req, res, url, { providerName: provider.name });
  } catch (error) {
    const { kind } = reportRefusal(deps, provider, error);
    res.redirect(303, wayBack({ intent, errand: beginning.errand.search }, provider, kind));
  }
}

/** What was typed, where it is an address: the provider need not ask for it again. */
function typedEmail(req: Request): string | undefined {
  const typed = identifierOf(field(req, 'username'));
  return typed && 'email' in typed ? typed.email : undefined;
}

/** POST /federation/<provider>: its button. A password that stands in the same form is not looked at. */
export function submitBegin(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const provider = providerOf(deps, req);
    await beginSignIn(deps, req, res, provider, {
      errand: errandOf(req, deps.publicUrl),
      remember: field(req, 'remember') === '1',
      loginHint: typedEmail(req),
      at: field(req, 'at') === 'sign-up' ? 'sign-up' : undefined,
    });
  };
}
