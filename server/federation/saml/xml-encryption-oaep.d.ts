/** The package has no types for this file, which Node.js 24 cannot replace: it takes one digest for both purposes. */
declare module 'xml-encryption/lib/oaep.js' {
  interface OaepOptions {
    oaepHash: string;
    mgf1Hash: string;
    oaepLabel: Buffer;
  }
  /** @throws with the same error for every wrong cipher text */
  export function privateDecryptOaep(privateKey: string, cipherText: Buffer, options: OaepOptions): Buffer;
  export function publicEncryptOaep(publicKey: string, text: Buffer, options: OaepOptions): Buffer;
}
