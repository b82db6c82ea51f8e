import { generateKeyPairSync } from 'node:crypto';
import { createSelfSignedCertificate } from './certificate.ts';

/** An RSA key and its self-signed certificate, both in PEM. */
export interface Signer {
  privateKey: string;
  certificate: string;
}

/** Times are milliseconds since the epoch. */
export function makeSigner(name: string, validFromMs: number, validToMs: number): Signer {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    privateKey: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: createSelfSignedCertificate(keys, { name, validFromMs, validToMs }),
  };
}

/** The base64 of a PEM file, as XML and JWKs contain it. */
export const pemBody = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, '');
