import type { UserId } from '../shared/index.ts';

/** The user handle in a passkey (WebAuthn, section 5.4.3): the id, which contains no personal data. */
export const toUserHandle = (userId: UserId): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(userId));

/** Tests whether the handle from an authenticator, base64url, is this user's. */
export const toIsUserHandle = (handle: unknown, userId: UserId): boolean =>
  handle === Buffer.from(toUserHandle(userId)).toString('base64url');
