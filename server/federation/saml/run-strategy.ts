import { type AuthenticateResult, authenticate } from '../providers/passport.ts';
import type { SamlRequest, SamlService } from './service.ts';

/** Runs the strategy of the library on a request that has only the named parts. */
export function runStrategy(
  { passport, config }: SamlService,
  request: Pick<SamlRequest, 'saml'> & Partial<SamlRequest>,
  options: object = {},
): Promise<AuthenticateResult> {
  const whole: SamlRequest = { query: {}, body: {}, headers: {}, ...request };
  return authenticate({ passport, id: config.id }, whole, options);
}
