import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import { parseUnknownJson, type UserId } from '../shared/index.ts';
import { checkedAs } from '../store/index.ts';

/** A credential id, base64url; at most 1,023 bytes (WebAuthn, section 4). */
const idPattern = /^[\w-]{1,1364}$/;

/** The parts of a browser's `PublicKeyCredential.toJSON()` that are read before the library checks the rest. */
const credential = z.looseObject({ id: z.string().regex(idPattern), response: z.looseObject({}) });

export const registrationResponse = checkedAs<RegistrationResponseJSON>(credential);
export const authenticationResponse = checkedAs<AuthenticationResponseJSON>(credential);

/** Reads a form's field; undefined if it is not a credential. */
export function postedCredential<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(parseUnknownJson(text)).data;
  } catch {
    return undefined;
  }
}

/** The user handle in a passkey (WebAuthn, section 5.4.3): the id, which contains no personal data. */
export const toUserHandle = (userId: UserId): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(userId));

/** Tests whether the handle from an authenticator, base64url, is this user's. */
export const toIsUserHandle = (handle: unknown, userId: UserId): boolean =>
  handle === Buffer.from(toUserHandle(userId)).toString('base64url');
