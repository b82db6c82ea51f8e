import type { Request, Response } from 'express';
import { type Errand, requestTraits } from '../http/index.ts';
import { consumeLimits } from '../rate-limits/index.ts';
import type { Intent } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { FederationRefusal } from './identity.ts';
import type { Provider } from './providers.ts';

export interface Beginning {
  errand: Errand;
  remember: boolean;
  loginHint?: string | undefined;
  /** Also where only a sign-in is wanted, the person must show anew who they are. */
  again?: boolean;
  repeated?: true;
}

/**
 * Begins an attempt in this browser.
 * @returns the provider's address: a form's answer goes there by `sendGoingOnPage`, not by a redirect, which the form's own
 * policy (`form-action 'self'`) would stop somewhere in the provider's chain
 * @throws {FederationRefusal} too-many, unreachable
 */
export async function beginAttempt(
  deps: FederationDeps,
  req: Request,
  res: Response,
  provider: Provider,
  intent: Intent,
  { errand, remember, loginHint, repeated, again = intent.kind === 're-authenticate' }: Beginning,
): Promise<string> {
  const { kv, limits, attempts, pages } = deps;
  const ofCompany = provider.domains.length > 0;
  const limit = ofCompany ? limits.companyFederationAttempt : limits.federationAttempt;
  const decision = await consumeLimits(kv, limit, { address: req.ip ?? '' });
  if (!decision.allowed) throw new FederationRefusal('too-many', 'attempts of one network');
  const id = attempts.newId();
  const { lang } = pages.context(req, res);
  const { url, kept } = await provider.strategy.begin({ id }, { loginHint, again, lang });
  const popup = requestTraits(deps.cookies, req, `/${errand.search}`).popup;
  const attempt = { id, provider: provider.id, intent, errand: errand.search, remember, kept };
  await attempts.begin(req, res, { ...attempt, ...(popup && { popup }), ...(repeated && { repeated }) });
  return url;
}
