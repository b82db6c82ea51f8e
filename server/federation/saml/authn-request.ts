import { SAML } from '@node-saml/passport-saml';
import { SignedXml } from 'xml-crypto';
import type { FederationAttempt } from '../attempts.ts';
import type { StrategyState } from '../provider-strategy.ts';
import { runStrategy } from './run-strategy.ts';
import { type AuthnRequestRecord, newMessageId, type SamlService, samlOptions } from './service.ts';
import type { PostForm } from './types.ts';
import { escapeXml, ns } from './xml.ts';

interface AuthnRequestInput {
  /** Demands a fresh authentication. */
  repeated: boolean;
  loginHint?: string | undefined;
}

/** The library's request with a Subject, which the library does not write. */
class RequestWriter extends SAML {
  subject = '';

  protected override async generateAuthorizeRequestAsync(isPassive: boolean): Promise<string> {
    const xml = await super.generateAuthorizeRequestAsync(isPassive, false);
    return xml.replace('<samlp:NameIDPolicy', (start) => this.subject + start);
  }

  write(): Promise<string> {
    return this.generateAuthorizeRequestAsync(false);
  }
}

function requestOptions(service: SamlService, request: AuthnRequestRecord, { repeated }: AuthnRequestInput) {
  return { ...samlOptions(service, request, service.signing.isOn()), forceAuthn: repeated };
}

const emailFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** SAML 2.0 Core, section 3.4.1: the subject that is asked for. Keycloak and Okta fill their form with it. */
const hintSubject = ({ config }: SamlService, { loginHint }: AuthnRequestInput): string =>
  config.loginHint !== 'subject' || loginHint === undefined
    ? ''
    : `<saml:Subject xmlns:saml="${ns.assertion}"><saml:NameID Format="${emailFormat}">${escapeXml(loginHint)}</saml:NameID></saml:Subject>`;

function requestWriter(service: SamlService, request: AuthnRequestRecord, input: AuthnRequestInput): RequestWriter {
  const writer = new RequestWriter(requestOptions(service, request, input));
  writer.subject = hintSubject(service, input);
  return writer;
}

/** @param relayState the attempt's id @returns the address of the first step, and what the attempt keeps */
export async function beginRequest(
  service: SamlService,
  relayState: string,
  input: AuthnRequestInput,
): Promise<{ url: string; stored: StrategyState }> {
  const request = { id: newMessageId(), begunAtMs: service.now() };
  await service.signing.load();
  const stored = { requestId: request.id, again: input.repeated };
  if (service.config.requestBinding === 'redirect')
    return { url: await buildAuthnRequestUrl(service, request, { ...input, relayState }), stored };
  return {
    url: `${service.requestPage}?${new URLSearchParams({ attempt: relayState })}`,
    stored: { ...stored, loginHint: input.loginHint },
  };
}

/** The address of the authentication request (SAML 2.0 Bindings, section 3.4). */
async function buildAuthnRequestUrl(
  service: SamlService,
  request: AuthnRequestRecord,
  { relayState, ...input }: AuthnRequestInput & { relayState: string },
): Promise<string> {
  const { loginHint } = input;
  if (hintSubject(service, input) !== '')
    return requestWriter(service, request, input).getAuthorizeUrlAsync(relayState, undefined, {});
  const asParameter = service.config.loginHint === 'query' && loginHint !== undefined;
  // Not part of SAML, but Google and Microsoft read it; it is unsigned and only a hint.
  const additionalParams = asParameter ? { login_hint: loginHint } : {};
  const saml = requestOptions(service, request, input);
  const result = await runStrategy(service, { saml, query: { RelayState: relayState } }, { additionalParams });
  if (result.kind !== 'redirect') throw new Error('the SAML strategy did not redirect');
  return result.url;
}

/** The authentication request of an attempt as a form (SAML 2.0 Bindings, section 3.5). */
export async function buildRequestForm(
  service: SamlService,
  { id: RelayState, begunAtMs, strategyState }: FederationAttempt,
): Promise<PostForm> {
  const { config, key, signing } = service;
  await signing.load();
  const { requestId, loginHint } = strategyState;
  const writer = requestWriter(
    service,
    { id: String(requestId), begunAtMs },
    {
      repeated: strategyState.again === true,
      loginHint: typeof loginHint === 'string' ? loginHint : undefined,
    },
  );
  const xml = await writer.write();
  const message = signing.isOn() && key ? signedRequest(xml, key.privateKey) : xml;
  const SAMLRequest = Buffer.from(message, 'utf8').toString('base64');
  return { action: config.ssoUrl, fields: { SAMLRequest, RelayState } };
}

const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';

/** An enveloped signature after the Issuer, as the schema has it (SAML 2.0 Core, sections 3.2.1 and 5.4). */
function signedRequest(xml: string, privateKey: string): string {
  const signer = new SignedXml({
    privateKey,
    signatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: exclusive,
  });
  const request = "/*[local-name(.)='AuthnRequest']";
  signer.addReference({
    xpath: request,
    transforms: [`${ns.signature}enveloped-signature`, exclusive],
    digestAlgorithm: `${ns.encryption}sha256`,
  });
  const location = { reference: `${request}/*[local-name(.)='Issuer']`, action: 'after' } as const;
  signer.computeSignature(xml, { prefix: 'ds', location });
  return signer.getSignedXml();
}
