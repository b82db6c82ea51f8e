import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** CBOR (RFC 8949), limited to the types that authenticators write: integers, texts, bytes, maps. */
function cbor(value: number | string | Buffer | Map<number | string, unknown>): Buffer {
  const head = (major: number, argument: number) => {
    if (argument < 24) return Buffer.from([(major << 5) | argument]);
    if (argument < 256) return Buffer.from([(major << 5) | 24, argument]);
    return Buffer.from([(major << 5) | 25, argument >> 8, argument & 255]);
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const pairs = [...value].flatMap(([key, item]) => [cbor(key), cbor(item as Parameters<typeof cbor>[0])]);
  return Buffer.concat([head(5, value.size), ...pairs]);
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url');

/** The options that pages pass to an authenticator, as far as this one reads them. */
export interface CreationOptions {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; name: string; displayName: string };
  excludeCredentials: { id: string }[];
  authenticatorSelection: Record<string, unknown>;
  attestation: string;
}

export interface RequestOptions {
  challenge: string;
  rpId: string;
  userVerification: string;
  allowCredentials?: { id: string }[];
}

/** Deviations of an authenticator, or of the browser in front of it. */
export interface Oddity {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  userVerified?: boolean;
  userPresent?: boolean;
  crossOrigin?: boolean;
  /** Instead of its own count. */
  counter?: number;
  userHandle?: string | null;
  /** Instead of its own id. */
  id?: string;
}

/** A passkey in a software authenticator: valid answers, and invalid ones (WebAuthn level 3, sections 6.1 and 6.5). */
export class Authenticator {
  readonly id: string;
  readonly #key: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #origin: string;
  readonly #backedUp: boolean;
  #counter: number;
  #userHandle = '';

  /** @param counts as security keys do; synced passkeys never do */
  constructor(origin: string, { backedUp = true, counts = false }: { backedUp?: boolean; counts?: boolean } = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    this.#publicKey = publicKey;
    this.id = base64url(randomBytes(32));
    this.#origin = origin;
    this.#backedUp = backedUp;
    this.#counter = counts ? 1 : 0;
  }

  #coseKey(): Buffer {
    const { x = '', y = '' } = this.#publicKey.export({ format: 'jwk' });
    return cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    );
  }

  #clientData(type: string, challenge: string, odd: Oddity): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: odd.type ?? type,
        challenge: odd.challenge ?? challenge,
        origin: odd.origin ?? this.#origin,
        crossOrigin: odd.crossOrigin ?? false,
      }),
    );
  }

  #authenticatorData(rpId: string, odd: Oddity, attested = Buffer.alloc(0)): Buffer {
    const flags =
      (odd.userPresent === false ? 0 : 0x01) |
      (odd.userVerified === false ? 0 : 0x04) |
      (this.#backedUp ? 0x18 : 0) |
      (attested.length > 0 ? 0x40 : 0);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(odd.counter ?? this.#counter);
    return Buffer.concat([sha256(odd.rpId ?? rpId), Buffer.from([flags]), counter, attested]);
  }

  /** Creates the passkey. Returns the page's post: `JSON.stringify(credential)`. */
  create(options: CreationOptions, odd: Oddity = {}): string {
    this.#userHandle = options.user.id;
    const id = Buffer.from(odd.id ?? this.id, 'base64url');
    const length = Buffer.from([id.length >> 8, id.length & 255]);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const clientData = this.#clientData('webauthn.create', options.challenge, odd);
    const authData = this.#authenticatorData(options.rp.id, odd, attested);
    const attestation = cbor(
      new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    return JSON.stringify({
      id: base64url(id),
      rawId: base64url(id),
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response: {
        clientDataJSON: base64url(clientData),
        attestationObject: base64url(attestation),
        transports: ['internal', 'hybrid', 'telepathy'],
      },
    });
  }

  /** Signs in with the passkey. Returns the page's post. */
  get(options: RequestOptions, odd: Oddity = {}): string {
    if (this.#counter > 0) this.#counter += 1;
    const clientData = this.#clientData('webauthn.get', options.challenge, odd);
    const authData = this.#authenticatorData(options.rpId, odd);
    const id = odd.id ?? this.id;
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: base64url(sign('sha256', Buffer.concat([authData, sha256(clientData)]), this.#key)),
        userHandle: odd.userHandle === undefined ? this.#userHandle : odd.userHandle,
      },
    });
  }
}
