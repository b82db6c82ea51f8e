import type { SamlProviderConfig } from '../../../config/providers.ts';
import { FederationError } from '../identity.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import { type ProviderMetadata, parseMetadataXml, readProviderMetadata } from '../saml/provider-metadata.ts';
import { readSignedMetadata } from '../saml/signed-metadata.ts';
import { checkCertificates, toFingerprint } from './certificates.ts';
import { mayReuse } from './describe-providers.ts';
import { joinedReports, type ProviderCheckResult } from './report.ts';

interface SamlCheck {
  /** The address of responses, which is registered there. */
  acs: string;
  /** Whether there is a key of Foyer's own. */
  hasKey: boolean;
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

async function checkMetadata(
  config: SamlProviderConfig,
  { hasKey, nowMs, answerMs }: SamlCheck,
): Promise<ProviderCheckResult> {
  if (config.metadataUrl === undefined) return {};
  try {
    const { status, headers, text } = await fetchLimited(config.metadataUrl, {}, answerMs);
    if (status !== 200) return { faults: [`its metadata answer ${status}`] };
    const metadata = readProviderMetadata(parseMetadataXml(text), config.entityId);
    return joinedReports(
      compare(metadata, { ...config, signRequests: config.signRequests ?? hasKey }, nowMs),
      compareCertificates(metadata, config, { text, nowMs }),
      clockReport(headers, config, nowMs),
    );
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    return { faults: [`its metadata cannot be read (${error.detail})`] };
  }
}

/** A cache keeps the `Date` of its copy, and says in `Age` how old that is (RFC 9110, section 6.6.1; RFC 9111, 5.1). */
function clockReport(headers: Headers, { clockTolerance }: SamlProviderConfig, nowMs: number): ProviderCheckResult {
  const thereMs = Date.parse(headers.get('date') ?? '') + 1_000 * Number(headers.get('age') ?? 0);
  const seconds = Math.round((thereMs - nowMs) / 1_000);
  if (Number.isNaN(seconds) || Math.abs(seconds) <= clockTolerance / 2) return {};
  const text = `its clock is ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} this one; clockTolerance is ${clockTolerance}`;
  return Math.abs(seconds) > clockTolerance ? { faults: [text] } : { warnings: [text] };
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

function compare(metadata: ProviderMetadata, config: SamlProviderConfig, nowMs: number): ProviderCheckResult {
  const [faults, warnings]: [string[], string[]] = [[], []];
  if (metadata.entityId !== config.entityId) faults.push('its metadata are of another entityId');
  if (metadata.validUntilMs !== undefined && metadata.validUntilMs <= nowMs) warnings.push('its metadata have expired');
  if (metadata.wantsSignedRequests && !config.signRequests)
    faults.push(
      'its metadata want signed requests: set signRequests to true, with a serviceProvider that is registered there',
    );
  const [addresses, binding] =
    config.requestBinding === 'post' ? [metadata.signOnByPost, 'HTTP-POST'] : [metadata.signOn, 'HTTP-Redirect'];
  if (!addresses.includes(config.ssoUrl)) faults.push(`its metadata do not name ssoUrl for the ${binding} binding`);
  if (config.logoutUrl !== undefined && !metadata.logout.includes(config.logoutUrl))
    faults.push('its metadata do not name logoutUrl for the HTTP-Redirect binding');
  return { faults, warnings };
}

function compareCertificates(
  metadata: ProviderMetadata,
  config: SamlProviderConfig,
  { text, nowMs }: { text: string; nowMs: number },
): ProviderCheckResult {
  if (config.metadataRefresh !== undefined) return checkSignature(config, text, nowMs);
  const known = new Set(config.certificates.map(toFingerprint));
  const claims = metadata.signing.map(toFingerprint).filter((one) => one !== undefined);
  const unknown = claims.filter((one) => !known.has(one));
  if (claims.length === 0) return { faults: ['its metadata have no signing certificate'] };
  if (unknown.length === claims.length) return { faults: ['none of its signing certificates is in the file'] };
  if (unknown.length === 0) return {};
  return { warnings: ['it announces a signing certificate that is not in the file: add it before it is used'] };
}

/** A running server takes over the certificates, if it can verify the signature. */
function checkSignature(config: SamlProviderConfig, text: string, nowMs: number): ProviderCheckResult {
  const { entityId, metadataCertificate: anchor, certificates } = config;
  try {
    readSignedMetadata(text, { entityId, anchors: anchor === undefined ? certificates : [anchor], nowMs });
    return {};
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    const detail = error.detail.replace('the assertion is', 'they are');
    return { faults: [`its metadata cannot be taken over (${detail}): import them again, or set metadataCertificate`] };
  }
}
