import type { RequestContext } from '../http/index.ts';
import type { FlowId } from '../shared/index.ts';
import { transition } from './attempt-state.ts';
import type { FederationAttempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { FederationError, type UpstreamIdentity } from './identity.ts';
import type { Provider } from './providers.ts';
import { logRefusal } from './refusals.ts';
import { loginPageUrl } from './sign-in-notices.ts';

interface AttemptResponse {
  provider: Provider;
  attemptId: FlowId;
  /** Verifies the response to an open attempt. @throws {FederationError} */
  verify(attempt: FederationAttempt): Promise<UpstreamIdentity>;
  /** @returns the next address after a refusal; undefined: the page on which the attempt was started */
  recover?(attempt: FederationAttempt, refusal: FederationError): Promise<string | undefined>;
}

/** Ends an attempt of this browser with the response of its provider; each attempt only once. */
export async function finishAttempt(
  r: RequestContext,
  deps: FederationDeps,
  { provider, attemptId, verify, recover }: AttemptResponse,
): Promise<void> {
  const found = await deps.attempts.take(r.req, attemptId, provider.id);
  const attempt = found.kind === 'unknown' ? undefined : found.attempt;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  try {
    const returned = transition(found, { kind: 'response-received' });
    if (returned.kind === 'refuse') {
      // OAuth's parameter `state` names the attempt.
      throw new FederationError(returned.why, `${provider.kind === 'saml' ? 'attempt' : 'state'} ${returned.detail}`);
    }
    const identity = await verify(returned.attempt);
    await handleIdentity(r, deps, { provider, identity, attempt: returned.attempt });
  } catch (error) {
    const refusal = logRefusal(deps, provider, error);
    const address = attempt && (await recover?.(attempt, refusal));
    r.redirect(address ?? loginPageUrl(attempt, provider, refusal.kind));
  }
}
