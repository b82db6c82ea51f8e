import type { Request } from 'express';
import type { SamlProviderConfig } from '../../../config/providers.ts';
import { readFormField } from '../../http/index.ts';
import type { FederationAttempt } from '../attempts.ts';
import { FederationError } from '../identity.ts';
import type { Provider, StrategySettings } from '../providers.ts';
import { buildAuthnRequestUrl } from '../saml/authn-request.ts';
import { samlToIdentity } from '../saml/identity.ts';
import { singleLogout } from '../saml/logout.ts';
import { serviceMetadata } from '../saml/metadata.ts';
import { readSamlResponse } from '../saml/read-response.ts';
import { type AuthnRequestRecord, newMessageId, samlService } from '../saml/service.ts';
import type { SamlResult } from '../saml/types.ts';
import type { Authenticator } from './passport.ts';

/** SAML 2.0's Web Browser SSO Profile: a redirect for the request, a POST for the response. */
export function openSaml(settings: StrategySettings, passport: Authenticator, config: SamlProviderConfig): Provider {
  const service = samlService(settings, config, passport);

  async function receive(req: Request, attempt: FederationAttempt | undefined): Promise<SamlResult> {
    if (!attempt && !config.idpInitiated) throw new FederationError('foreign', 'unsolicited response');
    const request: AuthnRequestRecord | undefined = attempt && {
      id: String(attempt.strategyState.requestId),
      begunAtMs: attempt.begunAtMs,
    };
    const expected = {
      audience: service.entityId,
      acs: service.acs,
      issuer: config.entityId,
      requestId: request?.id,
      certificates: config.certificates,
      freshSinceMs: attempt?.strategyState.again === true ? attempt.begunAtMs : undefined,
      key: service.key,
      encryptedAssertions: config.encryptedAssertions,
      nowMs: settings.now(),
      toleranceMs: service.toleranceMs,
    };
    const encoded = readFormField(req, 'SAMLResponse');
    const assertion = await readSamlResponse(service, { encoded, expected, request });
    return {
      identity: {
        ...samlToIdentity(config, assertion),
        // Some providers write the time of the response into AuthnInstant, so it proves no fresh authentication (SAML
        // 2.0 Core, 2.7.2).
        ...(expected.freshSinceMs === undefined && { shownAtMs: assertion.shownAtMs, stale: true as const }),
      },
      assertionId: assertion.id,
      untilMs: assertion.untilMs + service.toleranceMs,
    };
  }

  return {
    id: config.id,
    kind: 'saml',
    name: config.name,
    label: config.label ?? {},
    logo: config.logo,
    domains: config.domains,
    signUp: config.signUp,
    secondFactor: config.secondFactor,
    refusesEmbeddedBrowsers: false,
    strategy: {
      async begin({ id }, { repeated, loginHint }) {
        const request = { id: newMessageId(), begunAtMs: settings.now() };
        const url = await buildAuthnRequestUrl(service, request, { relayState: id, repeated, loginHint });
        return { url, stored: { requestId: request.id, again: repeated } };
      },
      finish: async (req, attempt) => (await receive(req, attempt)).identity,
    },
    saml: {
      receive,
      metadata: () => serviceMetadata(service),
      ...(service.logout !== undefined && { logout: singleLogout(service) }),
    },
  };
}
