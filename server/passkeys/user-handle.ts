import type { UserId } from '../shared/index.ts';

/** What a passkey keeps of its member (WebAuthn, section 5.4.3): the id, which says nothing about them. */
export const toUserHandle = (userId: UserId): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(userId));

/** Whether the handle that an authenticator gave back, base64url, is this member's. */
export const toIsUserHandle = (handle: unknown, userId: UserId): boolean =>
  handle === Buffer.from(toUserHandle(userId)).toString('base64url');
