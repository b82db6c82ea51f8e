import { FederationError, loginPageAfter } from '../federation/index.ts';
import { HttpError } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { listLinkedProviders } from './linked-provider-buttons.ts';
import { requireReauthentication } from './reauthenticate-handlers.ts';

/** POST /re-authenticate/provider/<provider>: the signed-in user re-authenticates there. */
export const reauthenticateByProvider = requireReauthentication(async (r, deps: SignInDeps) => {
  const { user, session, target: continuation } = r;
  const linked = await listLinkedProviders(r, deps, user);
  const chosen = linked.find(({ provider: { id } }) => id === r.param('provider'));
  if (!chosen) throw new HttpError('notFound');
  const { provider, email } = chosen;
  const intent = { kind: 're-authenticate', userId: user.id, sessionIdHash: session.idHash } as const;
  try {
    const beginning = { intent, continuation, remember: session.remember, loginHint: email ?? undefined };
    const address = await deps.federation.begin(r, provider, beginning);
    r.redirectAway(address, { providerName: provider.name });
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    r.log.info({ act: 're-authenticate', provider: provider.id, outcome: error.kind }, 're-authentication');
    r.redirect(loginPageAfter({ intent, continuation: continuation.search }, provider, error.kind));
  }
});
