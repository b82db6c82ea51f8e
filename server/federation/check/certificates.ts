import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dayMs } from '../../shared/index.ts';
import type { ProviderCheckResult } from './report.ts';

/** So long before its end somebody should know. */
const warnDays = 30;

interface CheckedCertificate {
  /** Of the file: "certificate 2". */
  name: string;
  /** Undefined: it cannot be read. */
  certificate: X509Certificate | undefined;
}

function read(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** What is said of one; undefined: nothing is wrong with it. */
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

/** An identity provider's: one that is good is enough; another may be the one before it or the next. */
export function checkCertificates(pems: readonly string[], nowMs: number): ProviderCheckResult {
  const judged = pems.map((pem, index) => ({ name: `certificate ${index + 1}`, certificate: read(pem) }));
  const ages = judged.map((one) => describeValidity(one, nowMs));
  const good = ages.some((age) => age === undefined);
  const unreadable = judged.some(({ certificate }) => !certificate);
  const says = ages.flatMap((age) => (age ? [age.says] : []));
  const none = !ages.some((age) => age === undefined || age.usable);
  if (none || unreadable) return { faults: says, warnings: [] };
  // While it is replaced the new one lives long, and the old one ends: nothing is to be done but to remove it one day.
  return { faults: [], warnings: good ? says.filter((text) => !text.includes('expires on')) : says };
}

/** Our own, as a service provider. */
export function checkOwnPair(
  { privateKey, certificate }: { privateKey: string; certificate: string },
  nowMs: number,
): ProviderCheckResult {
  const own = { name: 'serviceProvider.certificate', certificate: read(certificate) };
  const age = describeValidity(own, nowMs);
  const aged: ProviderCheckResult = {
    faults: age && !age.usable ? [age.says] : [],
    warnings: age?.usable ? [age.says] : [],
  };
  if (!own.certificate) return aged;
  try {
    if (own.certificate.checkPrivateKey(createPrivateKey(privateKey))) return aged;
    aged.faults.push('serviceProvider.certificate is not of serviceProvider.privateKey');
  } catch {
    aged.faults.push('serviceProvider.privateKey cannot be read');
  }
  return aged;
}

/** To compare what stands in a file with what metadata says. */
export const toFingerprint = (pem: string): string | undefined => read(pem)?.fingerprint256;
