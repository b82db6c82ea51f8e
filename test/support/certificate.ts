import { generateKeyPairSync } from 'node:crypto';
import { createSelfSignedCertificate, der, oid, sequence } from '../../sandbox/providers/certificate.ts';

/** A self-signed TLS certificate, in PEM: it is its own authority. */
export interface TestCertificate {
  key: string;
  cert: string;
}

const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));

/** For these DNS names, valid between these times (milliseconds since the epoch). */
export function makeCertificate(names: string[], validFromMs: number, validToMs: number): TestCertificate {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cert = createSelfSignedCertificate(keys, {
    name: names[0] ?? '',
    validFromMs,
    validToMs,
    extensions: [
      extension('551d11', sequence(...names.map((name) => der(0x82, Buffer.from(name))))),
      extension('551d13', sequence(der(0x01, Buffer.from([0xff])))),
    ],
  });
  return { key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}
