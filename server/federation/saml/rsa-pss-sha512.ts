import { constants, sign, verify } from 'node:crypto';
import { SignedXml } from 'xml-crypto';

/** RSASSA-PSS with SHA-512, MGF1 with SHA-512, and a salt as long as the digest (RFC 6931, section 2.3.9). */
export const sha512Mgf1 = 'http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1';

const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** As the library's own classes of algorithms are. */
class RsaSha512Mgf1 {
  getSignature(text: string, key: string): string {
    return sign('sha512', Buffer.from(text), { key, ...padding }).toString('base64');
  }
  verifySignature(text: string, key: string, value: string): boolean {
    return verify('sha512', Buffer.from(text), { key, ...padding }, Buffer.from(value, 'base64'));
  }
  getAlgorithmName(): string {
    return sha512Mgf1;
  }
}

const method = 'findSignatureAlgorithm';

/** The library takes algorithms for one object alone, and node-saml makes its objects itself: so the class learns it. */
export function addSha512Mgf1(): void {
  const known: unknown = Reflect.get(SignedXml.prototype, method);
  if (typeof known !== 'function') throw new Error('xml-crypto looks up its algorithms in another way');
  Reflect.set(SignedXml.prototype, method, function find(this: SignedXml, name: unknown): unknown {
    return name === sha512Mgf1 ? new RsaSha512Mgf1() : Reflect.apply(known, this, [name]);
  });
}
