import type { AuthenticationResponseJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { findUser, type User } from '../users/index.ts';
import { challengeMs } from './challenges.ts';
import { authenticationResponse, postedCredential, toIsUserHandle } from './credential-input.ts';
import type { PasskeyDeps } from './deps.ts';
import { findPasskey, listPasskeys, notePasskeyUse, type Passkey } from './passkey-store.ts';
import { readChallenge, readClientData, webAuthn } from './webauthn.ts';

export type PasskeyRefusal =
  /** Not an authenticator's answer at all. */
  | 'malformed'
  /** Its challenge is unknown, expired, or was answered before. */
  | 'expired'
  /** Removed here, or never known. */
  | 'unknown'
  | 'invalid'
  /** The authenticator's counter is lower than the stored one: a second one may have the same key. */
  | 'copied';

type PasskeyCheck =
  | { kind: 'correct'; user: User; amr: string[] }
  | { kind: 'refused'; why: PasskeyRefusal; passkey?: Passkey };

/**
 * The methods of a sign-in with a passkey that has verified the user (RFC 8176): possession of a key, and the
 * authenticator's own check, so both factors. A synced key counts as a software key.
 */
const passkeyAmr = ({ backedUp }: { backedUp: boolean }): string[] => ['pop', backedUp ? 'swk' : 'hwk', 'user', 'mfa'];

/** The options of a sign-in (WebAuthn, section 5.5): with any passkey, or with one of these. */
export function requestOptions(
  { relyingParty, challenges }: PasskeyDeps,
  passkeys?: readonly Pick<Passkey, 'id' | 'transports'>[],
): PublicKeyCredentialRequestOptionsJSON {
  return {
    challenge: challenges.make(),
    rpId: relyingParty.id,
    timeout: challengeMs,
    userVerification: 'required',
    ...(passkeys && {
      allowCredentials: passkeys.map(({ id, transports }) => ({ id, type: 'public-key', transports })),
    }),
  };
}

/** The options for a known user; undefined if they have no passkey. */
export async function requestOptionsForUser(
  deps: PasskeyDeps,
  user: Pick<User, 'id'>,
): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
  const passkeys = await listPasskeys(deps.database.db, user.id);
  return passkeys.length > 0 ? requestOptions(deps, passkeys) : undefined;
}

/**
 * Checks a browser's answer (WebAuthn, section 7.2). Each answer is accepted once, from any sender.
 * @param credential the browser's answer, JSON text
 */
export async function checkPasskey(deps: PasskeyDeps, credential: string): Promise<PasskeyCheck> {
  const { database, challenges, now } = deps;
  const posted = postedCredential(credential, authenticationResponse);
  const challenge = posted && readChallenge(posted);
  if (!challenge) return { kind: 'refused', why: 'malformed' };
  if (!challenges.isOurs(challenge)) return { kind: 'refused', why: 'expired' };
  const passkey = await findPasskey(database.db, posted.id);
  const user = passkey && (await findUser(database.db, passkey.userId));
  if (!passkey || !user) return { kind: 'refused', why: 'unknown' };
  const refuse = (why: PasskeyRefusal): PasskeyCheck => ({ kind: 'refused', why, passkey });
  if (!toIsUserHandle(posted.response.userHandle, user.id)) return refuse('invalid');
  const answer = await verifyAnswer(deps, posted, { challenge, passkey });
  if (!answer) return refuse('invalid');
  if (!(await challenges.use(challenge))) return refuse('expired');
  const used = await notePasskeyUse(database.db, passkey.id, { ...answer, nowMs: now() });
  if (used) return { kind: 'correct', user, amr: passkeyAmr(answer) };
  // It was just removed, or the counter has not increased.
  return (await findPasskey(database.db, passkey.id)) ? refuse('copied') : refuse('unknown');
}

async function verifyAnswer(
  { relyingParty, log }: PasskeyDeps,
  posted: AuthenticationResponseJSON,
  { challenge, passkey }: { challenge: string; passkey: Passkey },
): Promise<{ counter: number; backedUp: boolean } | undefined> {
  // Foyer's pages are never framed.
  if (readClientData(posted.response.clientDataJSON)?.crossOrigin === true) return undefined;
  const { verifyAuthenticationResponse } = await webAuthn();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: posted,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        // The store compares the counters, for all processes, and only after the signature.
        counter: 0,
      },
    });
    if (!verified) return undefined;
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  } catch (error) {
    log.info({ act: 'passkey', reason: String(error).slice(0, 200) }, 'authenticator response refused');
    return undefined;
  }
}
