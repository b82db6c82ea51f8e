import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readCertificate } from '../../federation/index.ts';
import { refused } from '../errors.ts';
import type { ProviderEntry } from './file.ts';

export interface ImportedCertificate {
  /** The name of its file, relative to PROVIDERS_FILE. */
  file: string;
  /** Undefined: the file is there already, as the operator wrote it. */
  pem: string | undefined;
  /** SHA-256. */
  fingerprint: string;
  subject: string;
  validTo: Date;
}

interface CertificateInput {
  id: string;
  /** PEM, of the metadata. */
  signing: readonly string[];
  old: ProviderEntry | undefined;
  /** PROVIDERS_FILE. */
  path: string;
  nowMs: number;
}

/** As in `certificates` of the entry. */
const maxCertificates = 5;

/** The files of the entry by the fingerprint of their certificate: a known certificate keeps its file. */
async function knownFiles(old: ProviderEntry | undefined, path: string): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  const names = Array.isArray(old?.certificates) ? old.certificates : [];
  for (const name of names) {
    if (typeof name !== 'string') continue;
    const pem = await readFile(resolve(dirname(path), name), 'utf8').catch(() => '');
    const fingerprint = readCertificate(pem)?.fingerprint256;
    if (fingerprint !== undefined) known.set(fingerprint, name);
  }
  return known;
}

/** Signatures with other keys are not accepted (`saml/signatures.ts`). */
function hasRsaKey({ publicKey }: X509Certificate): boolean {
  return publicKey.asymmetricKeyType === 'rsa';
}

/**
 * The signing certificates of the metadata, all of them while the provider replaces one by another.
 * @throws {CliError} refused
 */
export async function toImportedCertificates({ id, signing, old, path, nowMs }: CertificateInput): Promise<{
  certificates: ImportedCertificate[];
  notes: string[];
}> {
  const known = await knownFiles(old, path);
  const read = signing.map((pem) => ({ pem, certificate: readCertificate(pem) }));
  const all = read.flatMap(({ pem, certificate }) => {
    if (!certificate || !hasRsaKey(certificate)) return [];
    const { fingerprint256: fingerprint, subject, validToDate: validTo } = certificate;
    const short = fingerprint.replaceAll(':', '').slice(0, 16).toLowerCase();
    const knownFile = known.get(fingerprint);
    const file = knownFile ?? `${id}-${short}.crt`;
    return [
      {
        file,
        pem: knownFile === undefined ? `${pem}\n` : undefined,
        fingerprint,
        subject: subject.replaceAll('\n', ', '),
        validTo,
      },
    ];
  });
  if (all.length === 0) throw refused(['the metadata have no signing certificate with an RSA key']);
  const valid = all.filter(({ validTo }) => validTo.getTime() > nowMs);
  const chosen = valid.length > 0 ? valid : all;
  if (chosen.length > maxCertificates)
    throw refused([`the metadata have ${chosen.length} signing certificates, and at most ${maxCertificates} are read`]);
  const unusable = read.length - all.length;
  const expired = all.length - valid.length;
  const notes = [
    ...(unusable > 0 ? [`signing certificates that are unreadable or have no RSA key: ${unusable}, left out`] : []),
    ...(valid.length === 0 ? ['every signing certificate has expired'] : []),
    ...(valid.length > 0 && expired > 0 ? [`signing certificates that have expired: ${expired}, left out`] : []),
  ];
  return { certificates: chosen, notes };
}
