import type { RequestContext } from '../http/index.ts';
import type { FlowId } from '../shared/index.ts';
import { type FederationAttempt, lookupRefusals } from './attempts.ts';
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
  const attempt = found.state === 'unknown' ? undefined : found.attempt;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  try {
    if (found.state !== 'open') {
      // OAuth's parameter `state` names the attempt.
      const name = provider.kind === 'saml' ? 'attempt' : 'state';
      throw new FederationError(lookupRefusals[found.state], `${name} not open`);
    }
    const identity = await verify(found.attempt);
    await handleIdentity(r, deps, { provider, identity, attempt: found.attempt });
  } catch (error) {
    const refusal = logRefusal(deps, provider, error);
    const address = attempt && (await recover?.(attempt, refusal));
    r.redirect(address ?? loginPageUrl(attempt, provider, refusal.kind));
  }
}
