import type { Request } from 'express';
import type { SamlProviderConfig } from '../../../config/providers.ts';
import { field } from '../../http/index.ts';
import type { Attempt } from '../attempts.ts';
import { FederationRefusal } from '../identity.ts';
import type { Provider, StrategySettings } from '../providers.ts';
import { addressToAsk, readAnswer } from '../saml/ask.ts';
import { singleLogout } from '../saml/logout.ts';
import { serviceMetadata } from '../saml/metadata.ts';
import { personOf } from '../saml/person.ts';
import { type KnownRequest, newMessageId, samlService } from '../saml/service.ts';
import type { SamlAnswer } from '../saml/side.ts';
import { clockSkewMs } from '../saml/xml.ts';
import type { Authenticator } from './passport.ts';

/** SAML 2.0's Web Browser SSO Profile: asked by redirect, answered by post. */
export function openSaml(settings: StrategySettings, passport: Authenticator, config: SamlProviderConfig): Provider {
  const service = samlService(settings, config, passport);

  async function receive(req: Request, attempt: Attempt | undefined): Promise<SamlAnswer> {
    if (!attempt && !config.idpInitiated) throw new FederationRefusal('foreign', 'an answer for which nobody asked');
    const request: KnownRequest | undefined = attempt && {
      id: String(attempt.kept.requestId),
      begunAtMs: attempt.begunAtMs,
    };
    const expected = {
      audience: service.entityId,
      acs: service.acs,
      issuer: config.entityId,
      requestId: request?.id,
      certificates: config.certificates,
      anewSinceMs: attempt?.kept.again === true ? attempt.begunAtMs : undefined,
      decryptionKey: config.encryptedAssertions ? service.key?.privateKey : undefined,
      nowMs: settings.now(),
    };
    const assertion = await readAnswer(service, field(req, 'SAMLResponse'), expected, request);
    return {
      identity: {
        ...personOf(config, assertion),
        // Some write the time of the answer into AuthnInstant, so that of a session proves nothing (SAML 2.0 Core, 2.7.2).
        ...(expected.anewSinceMs === undefined && { shownAtMs: assertion.shownAtMs, stale: true as const }),
      },
      assertionId: assertion.id,
      untilMs: assertion.untilMs + clockSkewMs,
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
      async begin({ id }, { again, loginHint }) {
        const request = { id: newMessageId(), begunAtMs: settings.now() };
        const url = await addressToAsk(service, request, { relayState: id, again, loginHint });
        return { url, kept: { requestId: request.id, again } };
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
