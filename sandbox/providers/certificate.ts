import { type KeyPairKeyObjectResult, randomBytes, sign } from 'node:crypto';

/** One DER element (ITU-T X.690): tag, length, content. */
export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

export const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
export const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const algorithms = {
  rsa: sequence(oid('2a864886f70d01010b'), der(0x05)),
  ec: sequence(oid('2a8648ce3d040302')),
};
const toName = (text: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(text)))));
/** GeneralizedTime. */
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));

interface CertificateOptions {
  name: string;
  /** Milliseconds since the epoch. */
  validFromMs: number;
  validToMs: number;
  /** In DER. */
  extensions?: readonly Buffer[];
}

/** A self-signed certificate (RFC 5280, section 4.1), in PEM. */
export function createSelfSignedCertificate(
  { privateKey, publicKey }: KeyPairKeyObjectResult,
  { name, validFromMs, validToMs, extensions = [] }: CertificateOptions,
): string {
  const algorithm = algorithms[privateKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec'];
  const subject = toName(name);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    subject,
    sequence(time(validFromMs), time(validToMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
}
