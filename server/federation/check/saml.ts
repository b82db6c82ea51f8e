import type { SamlProviderConfig } from '../../../config/providers.ts';
import { FederationError } from '../identity.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import {
  childrenNamed,
  elementText,
  everyElement,
  is,
  metadataLimits,
  parseXml,
  type XmlElement,
} from '../saml/xml.ts';
import { checkCertificates, toFingerprint } from './certificates.ts';
import { mayReuse } from './describe-providers.ts';
import { joinedReports, type ProviderCheckResult } from './report.ts';

interface SamlCheck {
  /** The address of responses, which is registered there. */
  acs: string;
  nowMs: number;
  answerMs: number | undefined;
}

/** Checks the certificates of the file, and the identity provider's metadata if they can be fetched. */
export async function checkSaml(config: SamlProviderConfig, check: SamlCheck): Promise<ProviderCheckResult> {
  return joinedReports(
    checkCertificates(config.certificates, check.nowMs),
    subjectReport(config),
    { unseen: unseenSettings(config, check) },
    await checkMetadata(config, check),
  );
}

async function checkMetadata(config: SamlProviderConfig, { nowMs, answerMs }: SamlCheck): Promise<ProviderCheckResult> {
  if (config.metadataUrl === undefined) return {};
  try {
    const { status, text } = await fetchLimited(config.metadataUrl, {}, answerMs);
    if (status !== 200) return { faults: [`its metadata answer ${status}`] };
    return compare(parseMetadata(text), config, nowMs);
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    return { faults: [`its metadata cannot be read (${error.detail})`] };
  }
}

function subjectReport(config: SamlProviderConfig): ProviderCheckResult {
  const warning =
    'its NameIDs may be given to other people later: set nameIdFormat to the persistent format, or subject to a permanent attribute';
  return { warnings: mayReuse(config) ? [warning] : [] };
}

const unseenSettings = (
  { signRequests, logoutUrl, encryptedAssertions, attributes }: SamlProviderConfig,
  { acs }: SamlCheck,
): string[] => [
  `whether ${acs} is registered there`,
  `whether assertions are signed there with SHA-256 or SHA-512${encryptedAssertions ? ', and encrypted for our certificate' : ''}`,
  ...(signRequests || logoutUrl !== undefined ? ['whether our certificate is registered there'] : []),
  `whether it sends the address as ${attributes.email ?? 'an attribute that is known here'}`,
];

const metadataNamespace = 'urn:oasis:names:tc:SAML:2.0:metadata';
const redirectBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

interface Metadata {
  entityId: string;
  validUntilMs: number | undefined;
  signOn: string[];
  logout: string[];
  /** PEM. */
  signing: string[];
}

const named = (of: XmlElement, name: string) =>
  [...everyElement(of)].filter((one) => one.namespaceURI === metadataNamespace && one.localName === name);

/**
 * SAML 2.0 Metadata, section 2.4.3. Comments are common in metadata and harmless, because they are only compared, never
 * trusted.
 */
function parseMetadata(text: string): Metadata {
  const root = parseXml(text.replace(/<!--[\s\S]*?-->/g, ''), metadataLimits);
  if (root.namespaceURI !== metadataNamespace || root.localName !== 'EntityDescriptor')
    throw new FederationError('invalid', 'no EntityDescriptor');
  const locations = (name: string) =>
    named(root, name)
      .filter((one) => one.getAttribute('Binding') === redirectBinding)
      .map((one) => one.getAttribute('Location') ?? '');
  const validUntil = Date.parse(root.getAttribute('validUntil') ?? '');
  const idp = named(root, 'IDPSSODescriptor');
  return {
    entityId: root.getAttribute('entityID') ?? '',
    validUntilMs: Number.isNaN(validUntil) ? undefined : validUntil,
    signOn: locations('SingleSignOnService'),
    logout: locations('SingleLogoutService'),
    signing: idp
      .flatMap((one) => named(one, 'KeyDescriptor'))
      .filter((key) => (key.getAttribute('use') ?? 'signing') === 'signing')
      .flatMap(certificatesIn),
  };
}

function certificatesIn(key: XmlElement): string[] {
  return childrenNamed(key, 'signature', 'KeyInfo')
    .flatMap((info) => [...everyElement(info)])
    .filter((one) => is(one, 'signature', 'X509Certificate'))
    .map((one) => `-----BEGIN CERTIFICATE-----\n${elementText(one).replace(/\s+/g, '')}\n-----END CERTIFICATE-----`);
}

function compare(metadata: Metadata, config: SamlProviderConfig, nowMs: number): ProviderCheckResult {
  const [faults, warnings]: [string[], string[]] = [[], []];
  if (metadata.entityId !== config.entityId) faults.push('its metadata are of another entityId');
  if (metadata.validUntilMs !== undefined && metadata.validUntilMs <= nowMs) warnings.push('its metadata have expired');
  if (!metadata.signOn.includes(config.ssoUrl))
    faults.push('its metadata do not name ssoUrl for the HTTP-Redirect binding');
  if (config.logoutUrl !== undefined && !metadata.logout.includes(config.logoutUrl))
    faults.push('its metadata do not name logoutUrl for the HTTP-Redirect binding');
  const known = new Set(config.certificates.map(toFingerprint));
  const claims = metadata.signing.map(toFingerprint).filter((one) => one !== undefined);
  const unknown = claims.filter((one) => !known.has(one));
  if (claims.length === 0) faults.push('its metadata have no signing certificate');
  else if (unknown.length === claims.length) faults.push('none of its signing certificates is in the file');
  else if (unknown.length > 0)
    warnings.push('it announces a signing certificate that is not in the file: add it before it is used');
  return { faults, warnings };
}
