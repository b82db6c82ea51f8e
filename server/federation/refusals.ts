import type { RequestContext } from '../http/index.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError } from './identity.ts';
import type { Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';

type Deps = Pick<FederationDeps, 'log' | 'metrics'>;

/** Logs a refusal without any data from the provider. @throws every error that is no refusal */
export function logRefusal({ log, metrics }: Deps, provider: Provider, error: unknown): FederationError {
  if (!(error instanceof FederationError)) throw error;
  const { kind: outcome, detail, count } = error;
  log.info(
    { act: 'federation', provider: provider.id, outcome, detail, ...(count !== undefined && { count }) },
    'federation',
  );
  metrics.signIn(provider.kind, error.kind);
  return error;
}

/** Logs a refusal, and redirects to the page on which the attempt was started. */
export function redirectRefused(
  r: RequestContext,
  deps: Deps,
  { provider, attempt, error }: { provider: Provider; attempt: Parameters<typeof loginPageUrl>[0]; error: unknown },
): void {
  const { kind } = logRefusal(deps, provider, error);
  r.redirect(loginPageUrl(attempt, provider, kind));
}
