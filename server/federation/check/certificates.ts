import type { X509Certificate } from 'node:crypto';
import { dayMs } from '../../shared/index.ts';
import { readCertificate } from '../saml/provider-metadata.ts';
import type { ProviderCheckResult } from './report.ts';

/** How long before its end a certificate is reported. */
const warnDays = 30;

interface CheckedCertificate {
  /** Position in the file: "certificate 2". */
  name: string;
  /** Undefined: it is unreadable. */
  certificate: X509Certificate | undefined;
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The text about one certificate; undefined: it is valid. */
function describeValidity(
  { name, certificate }: CheckedCertificate,
  nowMs: number,
): { says: string; usable: boolean } | undefined {
  if (!certificate) return { says: `${name} cannot be read`, usable: false };
  const [from, until] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (until <= nowMs) return { says: `${name} expired on ${day(until)}`, usable: false };
  if (from > nowMs) return { says: `${name} is valid from ${day(from)} only`, usable: false };
  if (until - nowMs > warnDays * dayMs) return undefined;
  return { says: `${name} expires on ${day(until)}, in ${Math.ceil((until - nowMs) / dayMs)} days`, usable: true };
}

/**
 * The certificates of an identity provider: one valid certificate suffices; others may be its predecessor or successor.
 */
export function checkCertificates(pems: readonly string[], nowMs: number): ProviderCheckResult {
  const judged = pems.map((pem, index) => ({ name: `certificate ${index + 1}`, certificate: readCertificate(pem) }));
  const ages = judged.map((one) => describeValidity(one, nowMs));
  const good = ages.some((age) => age === undefined);
  const unreadable = judged.some(({ certificate }) => !certificate);
  const says = ages.flatMap((age) => (age ? [age.says] : []));
  const none = !ages.some((age) => age === undefined || age.usable);
  if (none || unreadable) return { faults: says, warnings: [] };
  // During a rollover the new one has a long validity, and the old one ends: it only needs to be removed some day.
  return { faults: [], warnings: good ? says.filter((text) => !text.includes('expires on')) : says };
}

/** Foyer's own certificate, as a service provider: the reading of the file has compared it with its key. */
export function checkOwnCertificate(certificate: string, nowMs: number): ProviderCheckResult {
  const own = { name: 'serviceProvider.certificate', certificate: readCertificate(certificate) };
  const age = describeValidity(own, nowMs);
  return { faults: age && !age.usable ? [age.says] : [], warnings: age?.usable ? [age.says] : [] };
}

/** For comparing the file with the metadata. */
export const toFingerprint = (pem: string): string | undefined => readCertificate(pem)?.fingerprint256;
