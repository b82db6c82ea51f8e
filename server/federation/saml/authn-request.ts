import { runStrategy } from './run-strategy.ts';
import { type AuthnRequestRecord, type SamlService, samlOptions } from './service.ts';

/** @returns the address of the authentication request */
export async function buildAuthnRequestUrl(
  service: SamlService,
  request: AuthnRequestRecord,
  { relayState, repeated, loginHint }: { relayState: string; repeated: boolean; loginHint: string | undefined },
): Promise<string> {
  const saml = { ...samlOptions(service, request, service.config.signRequests), forceAuthn: repeated };
  // Not part of SAML, but Google and Microsoft read it; it is unsigned and only a hint.
  const additionalParams = loginHint === undefined ? {} : { login_hint: loginHint };
  const result = await runStrategy(service, { saml, query: { RelayState: relayState } }, { additionalParams });
  if (result.kind !== 'redirect') throw new Error('the SAML strategy did not redirect');
  return result.url;
}
