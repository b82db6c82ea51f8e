import type { Request } from 'express';
import type { SamlProviderConfig } from '../../../config/providers.ts';
import { readFormField } from '../../http/index.ts';
import type { FederationAttempt } from '../attempts.ts';
import { FederationError } from '../identity.ts';
import type { Provider, StrategySettings } from '../providers.ts';
import { beginRequest, buildRequestForm } from '../saml/authn-request.ts';
import { type CertificateRollOver, createCertificateRollOver } from '../saml/certificate-roll-over.ts';
import { samlToIdentity } from '../saml/identity.ts';
import { singleLogout } from '../saml/logout.ts';
import { serviceMetadata } from '../saml/metadata.ts';
import { readSamlResponse } from '../saml/read-response.ts';
import type { RequestSigning } from '../saml/request-signing.ts';
import { type AuthnRequestRecord, samlService } from '../saml/service.ts';
import type { SamlLogout, SamlResult } from '../saml/types.ts';
import type { Authenticator } from './passport.ts';

/** SAML 2.0's Web Browser SSO Profile: a redirect for the request, a POST for the response. */
export function openSaml(settings: StrategySettings, passport: Authenticator, entry: SamlProviderConfig): Provider {
  const rollOver = openRollOver(settings, entry);
  const config = rollOver ? withCertificates(entry, rollOver) : entry;
  const opened = samlService(settings, config, passport);
  const service = rollOver ? { ...opened, signing: afterLoading(opened.signing, rollOver) } : opened;

  async function read(req: Request, attempt: FederationAttempt | undefined): Promise<SamlResult> {
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

  async function receive(req: Request, attempt: FederationAttempt | undefined): Promise<SamlResult> {
    if (!rollOver) return read(req, attempt);
    await rollOver.load();
    const used = rollOver.inForce();
    try {
      return await read(req, attempt);
    } catch (error) {
      // The provider may have replaced its certificate since the last look.
      if (!mayNeedNewCertificate(error, config) || !(await rollOver.renew(used))) throw error;
      return read(req, attempt);
    }
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
      begin: ({ id }, input) => beginRequest(service, id, input),
      finish: async (req, attempt) => (await receive(req, attempt)).identity,
    },
    saml: {
      receive,
      ...(config.requestBinding === 'post' && { requestForm: (attempt) => buildRequestForm(service, attempt) }),
      metadata: () => serviceMetadata(service),
      ...(service.logout !== undefined && { logout: logoutAfterLoading(singleLogout(service), rollOver) }),
      ...(rollOver && { renewDaily: () => rollOver.renewDaily() }),
    },
  };
}

function openRollOver(
  { rollOver: store, now, answerMs }: StrategySettings,
  config: SamlProviderConfig,
): CertificateRollOver | undefined {
  if (store === undefined || config.metadataRefresh === undefined) return undefined;
  return createCertificateRollOver(config, { ...store, now, answerMs });
}

/** The certificates are read at each use: they change while the server runs. */
const withCertificates = (config: SamlProviderConfig, rollOver: CertificateRollOver): SamlProviderConfig => ({
  ...config,
  get certificates() {
    return rollOver.inForce();
  },
});

/** The wish in signed metadata is verified by the certificates that were taken over. */
const afterLoading = (signing: RequestSigning, rollOver: CertificateRollOver): RequestSigning => ({
  isOn: () => signing.isOn(),
  async load() {
    await rollOver.load();
    await signing.load();
  },
});

const logoutAfterLoading = (logout: SamlLogout, rollOver: CertificateRollOver | undefined): SamlLogout => ({
  ...logout,
  async read(req) {
    await rollOver?.load();
    return logout.read(req);
  },
});

/**
 * Where assertions are encrypted, each invalid answer counts: otherwise the look at the metadata would tell by its time
 * whether a modified cipher text can be decrypted.
 */
const mayNeedNewCertificate = (error: unknown, { encryptedAssertions }: SamlProviderConfig): boolean =>
  error instanceof FederationError &&
  error.kind === 'invalid' &&
  (encryptedAssertions || error.detail.includes('not signed by this provider'));
