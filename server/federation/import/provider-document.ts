import { z } from 'zod';
import { parseUnknownJson } from '../../shared/index.ts';
import { FederationError } from '../identity.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import { type ProviderMetadata, parseMetadataXml, readProviderMetadata } from '../saml/provider-metadata.ts';

/** The part of a discovery document (OpenID Connect Discovery 1.0, section 3) that an import reads. */
const discoveryDocument = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
  userinfo_endpoint: z.string().optional(),
  scopes_supported: z.array(z.string()).optional(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  require_pushed_authorization_requests: z.boolean().optional(),
});
export type DiscoveryDocument = z.infer<typeof discoveryDocument>;

/** The content of a document by which a provider describes itself. */
export type ProviderDocument =
  | { kind: 'saml'; metadata: ProviderMetadata }
  | { kind: 'oidc'; discovery: DiscoveryDocument };

interface DocumentOptions {
  /** Which identity provider, if the document has several. */
  entityId?: string | undefined;
  nowMs: number;
}

const invalid = (detail: string) => new FederationError('invalid', detail);

/**
 * Reads SAML metadata or a discovery document.
 * @throws {FederationError} invalid
 */
export function readProviderDocument(text: string, options: DocumentOptions): ProviderDocument {
  const body = text.replace(/^\uFEFF/, '').trimStart();
  if (body.startsWith('<')) return { kind: 'saml', metadata: readMetadata(body, options) };
  return { kind: 'oidc', discovery: readDiscovery(body) };
}

function readMetadata(text: string, { entityId, nowMs }: DocumentOptions): ProviderMetadata {
  const metadata = readProviderMetadata(parseMetadataXml(text), entityId);
  if (entityId !== undefined && metadata.entityId !== entityId) throw invalid('no such entityID');
  if (metadata.validUntilMs !== undefined && metadata.validUntilMs <= nowMs)
    throw invalid(`the metadata ended on ${new Date(metadata.validUntilMs).toISOString()} (validUntil)`);
  return metadata;
}

function readDiscovery(text: string): DiscoveryDocument {
  let json: unknown;
  try {
    json = parseUnknownJson(text);
  } catch {
    throw invalid('neither XML nor JSON');
  }
  const { data, error } = discoveryDocument.safeParse(json);
  if (!data) throw invalid(`the discovery document lacks ${error.issues.map(({ path }) => path.join('.')).join(', ')}`);
  const plain = URL.parse(data.issuer)?.protocol === 'http:';
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const) {
    const address = data[name];
    const protocol = address === undefined ? 'https:' : URL.parse(address)?.protocol;
    if (protocol !== 'https:' && !(plain && protocol === 'http:')) throw invalid(`its ${name} is no https address`);
  }
  return data;
}

const wellKnown = '/.well-known/openid-configuration';
const withoutSlash = (address: string): string => address.replace(/\/$/, '');

/**
 * Fetches SAML metadata, a discovery document, or the discovery document of an issuer. Requests go to this address
 * alone: no redirect and no address in the document is followed.
 * @throws {FederationError} unreachable, invalid
 */
export async function fetchProviderDocument(
  address: string,
  options: DocumentOptions,
  answerMs?: number,
): Promise<ProviderDocument> {
  const isDiscovery = withoutSlash(address).endsWith(wellKnown);
  const first = await fetchLimited(address, {}, answerMs);
  if (isDiscovery || (first.status === 200 && !isPage(first.text)))
    return checkIssuer(readProviderDocument(requireOk(first), options), address);
  const second = await fetchLimited(withoutSlash(address) + wellKnown, {}, answerMs);
  // The answer to the given address says more.
  if (second.status !== 200) requireOk(first);
  return checkIssuer(readProviderDocument(requireOk(second), options), address);
}

/** The page of a server at the address of its issuer. */
const isPage = (text: string): boolean => /^\s*(?:<!doctype html|<html)/i.test(text);

function requireOk({ status, text }: { status: number; text: string }): string {
  if (status >= 300 && status < 400)
    throw invalid(`it answers ${status}, and redirects are not followed: give the address to which it leads`);
  if (status !== 200) throw invalid(`it answers ${status}`);
  if (isPage(text)) throw invalid('it answers a page for people, not metadata');
  return text;
}

/** The issuer and the address of its document belong together (Discovery 1.0, section 4.3). */
function checkIssuer(document: ProviderDocument, address: string): ProviderDocument {
  if (document.kind === 'saml') return document;
  const { issuer } = document.discovery;
  if (withoutSlash(withoutSlash(address).replace(wellKnown, '')) !== withoutSlash(issuer))
    throw invalid(`the discovery document is of another issuer: ${issuer}`);
  return document;
}
