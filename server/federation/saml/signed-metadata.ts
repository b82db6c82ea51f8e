import { type ProviderMetadata, parseMetadataXml, readCertificate, readProviderMetadata } from './provider-metadata.ts';
import { requireSignedText } from './reference-digest.ts';
import { checkSignatureShapes } from './signatures.ts';
import { refuseForeignSignatures } from './signed-info.ts';
import { childrenNamed, requireOne, xmlError } from './xml.ts';

interface ExpectedMetadata {
  entityId: string;
  /** PEM: one of these must have signed the document. */
  anchors: readonly string[];
  /** The end of the last good metadata; undefined: they had none. */
  lastEndMs?: number | undefined;
  nowMs: number;
}

/** Metadata whose signature was verified, with certificates that are valid now. */
type SignedMetadata = Pick<ProviderMetadata, 'validUntilMs' | 'signing' | 'wantsSignedRequests'>;

/**
 * Verifies the metadata of an identity provider (SAML 2.0 Metadata, section 3). The document's root must be signed,
 * and only the signed text is read, so that an element beside the signed one has no effect.
 * @throws {FederationError} invalid
 */
export function readSignedMetadata(text: string, expected: ExpectedMetadata): SignedMetadata {
  const root = parseMetadataXml(text);
  if (childrenNamed(root, 'signature', 'Signature').length === 0) throw xmlError('the metadata are not signed');
  checkSignatureShapes(root, (element) => element === root);
  refuseForeignSignatures(root, expected.anchors);
  const signed = requireSignedText(requireOne(root, 'signature', 'Signature'));
  const metadata = readProviderMetadata(parseMetadataXml(signed), expected.entityId);
  if (metadata.entityId !== expected.entityId) throw xmlError('the metadata are of another entityID');
  refuseOld(metadata, expected);
  const signing = metadata.signing.filter((pem) => isUsable(pem, expected.nowMs));
  if (signing.length === 0) throw xmlError('the metadata have no valid signing certificate with an RSA key');
  return { validUntilMs: metadata.validUntilMs, signing, wantsSignedRequests: metadata.wantsSignedRequests };
}

/** Older metadata with a good signature may name a certificate that was replaced because its key was stolen. */
function refuseOld(
  { validUntilMs: end }: Pick<ProviderMetadata, 'validUntilMs'>,
  { lastEndMs, nowMs }: Pick<ExpectedMetadata, 'lastEndMs' | 'nowMs'>,
): void {
  if (end !== undefined && end <= nowMs) throw xmlError('the metadata have ended (validUntil)');
  if (lastEndMs === undefined || lastEndMs <= nowMs) return;
  if (end === undefined || end < lastEndMs) throw xmlError('the metadata are older than the last ones (validUntil)');
}

function isUsable(pem: string, nowMs: number): boolean {
  const certificate = readCertificate(pem);
  return certificate?.publicKey.asymmetricKeyType === 'rsa' && certificate.validToDate.getTime() > nowMs;
}
