import { createPrivateKey, X509Certificate } from 'node:crypto';

/** The forms of PEM files (RFC 7468). */
const kinds = {
  certificate: { pattern: /-----BEGIN CERTIFICATE-----/, what: 'certificate' },
  privateKey: { pattern: /-----BEGIN (RSA )?PRIVATE KEY-----/, what: 'private key' },
} as const;

export type PemKind = keyof typeof kinds;

const encrypted = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** @returns what is wrong, to be written behind the name of the file */
export function findPemFault(content: string, kind: PemKind): string | undefined {
  const { pattern, what } = kinds[kind];
  if (kind === 'privateKey' && encrypted.test(content))
    return 'has a passphrase: remove it with openssl pkey -in FILE -out NEW';
  return pattern.test(content) ? undefined : `is no ${what} in PEM format`;
}

/**
 * @param pair Foyer's own key and certificate, without which no provider with signatures works
 * @returns the fault, which begins with the name of the field
 */
export function findPairFault({ privateKey, certificate }: { privateKey: string; certificate: string }) {
  const key = readable(() => createPrivateKey(privateKey));
  if (!key) return 'privateKey: is damaged; copy the whole file again';
  const own = readable(() => new X509Certificate(certificate));
  if (!own) return 'certificate: is damaged; copy the whole file again';
  return own.checkPrivateKey(key)
    ? undefined
    : 'certificate: is of another key than serviceProvider.privateKey; write the certificate of that key';
}
