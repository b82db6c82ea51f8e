import { createPublicKey, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { verifiedMethods } from './signed-info.ts';
import { xmlError } from './xml.ts';

/** The same limit as for a POST; compressed data may expand a thousandfold. */
export const maxMessageBytes = 262_144;

interface RedirectMessage {
  kind: 'SAMLRequest' | 'SAMLResponse';
  xml: string;
  relayState: string | undefined;
}

/**
 * Reads a message from an address, signed according to SAML 2.0 Bindings, section 3.4.4.1: over the parameters exactly
 * as they were sent. The library would accept an address without a signature, and searches the names of signed
 * parameters anywhere.
 * @param search of the request as it came, without `?`
 * @throws {FederationError} invalid
 */
export async function readRedirect(search: string, certificates: readonly string[]): Promise<RedirectMessage> {
  const raw = new Map<string, string>();
  for (const token of search.split('&')) {
    const at = token.indexOf('=');
    const name = at < 0 ? token : token.slice(0, at);
    if (raw.has(name)) throw xmlError('a parameter is given twice');
    raw.set(name, token.slice(name.length + 1));
  }
  const kinds = (['SAMLRequest', 'SAMLResponse'] as const).filter((name) => raw.has(name));
  const [kind] = kinds;
  if (!kind || kinds.length > 1) throw xmlError('there is no message');
  const signature = decoded(raw.get('Signature'));
  const method = verifiedMethods.get(decoded(raw.get('SigAlg')) ?? '');
  if (signature === undefined) throw xmlError('the message is not signed');
  if (!method) throw xmlError('the message is signed in a way that is not accepted');
  const signed = Buffer.from(
    [kind, 'RelayState', 'SigAlg'].flatMap((name) => (raw.has(name) ? [`${name}=${raw.get(name)}`] : [])).join('&'),
  );
  const bytes = Buffer.from(signature, 'base64');
  if (!certificates.some((certificate) => fits(certificate, { ...method, signed, signature: bytes })))
    throw xmlError('the message is not signed by this provider');
  return { kind, xml: await inflated(decoded(raw.get(kind)) ?? ''), relayState: decoded(raw.get('RelayState')) };
}

function fits(
  certificate: string,
  { hash, padding, signed, signature }: { hash: string; padding: number; signed: Buffer; signature: Buffer },
): boolean {
  try {
    return verify(hash, signed, { key: createPublicKey(certificate), padding }, signature);
  } catch {
    // A file without a certificate (`foyer provider check` reports it) must not prevent the use of the next one.
    return false;
  }
}

function decoded(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    throw xmlError('a parameter cannot be decoded');
  }
}

async function inflated(message: string): Promise<string> {
  try {
    const options = { maxOutputLength: maxMessageBytes };
    const bytes = await promisify<Buffer, object, Buffer>(inflateRaw)(Buffer.from(message, 'base64'), options);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw xmlError('the message cannot be unpacked');
  }
}
