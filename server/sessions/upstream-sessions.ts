import {
  type ProviderId,
  type SessionIdHash,
  sha256,
  toSessionIdHash,
  toUserId,
  type UserId,
} from '../shared/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { type SessionUser, sessionKey, type UpstreamSession } from './session.ts';
import { batches, findUser } from './user-sessions.ts';

/** The sessions here that a provider can refer to by one name: of a person, or of a session there. */
const sessionsOfName = (names: readonly string[]) => `sessions-of-name:${sha256(JSON.stringify(names))}`;

/** SAML's names have two parts, and those of OpenID Connect four: neither can be taken for the other. */
const samlKey = (provider: ProviderId, nameId: string) => sessionsOfName([provider, nameId]);
const oidcKey = (provider: ProviderId, issuer: string, [kind, name]: ['sub' | 'sid', string]) =>
  sessionsOfName([provider, kind, issuer, name]);

function upstreamKeys({ provider, saml, oidc }: UpstreamSession): string[] {
  if (saml) return [samlKey(provider, saml.nameId)];
  if (!oidc) return [];
  const { issuer, subject, sid } = oidc;
  const ofPerson = oidcKey(provider, issuer, ['sub', subject]);
  return sid === undefined ? [ofPerson] : [ofPerson, oidcKey(provider, issuer, ['sid', sid])];
}

/**
 * Records the names that the provider has for a session, so that the provider can end it: the name of the person alone
 * identifies neither user nor session.
 */
export async function indexUpstreamSession(
  kv: KeyValueStore,
  { userId, idHash, upstream }: { userId: UserId; idHash: SessionIdHash; upstream?: UpstreamSession | undefined },
  ttlMs: number,
): Promise<void> {
  if (!upstream) return;
  for (const key of upstreamKeys(upstream)) {
    for (const member of await kv.setMembers(key)) {
      const [, listed = ''] = member.split(' ');
      // Removes expired sessions from the list.
      if ((await kv.get(sessionKey(toSessionIdHash(listed)))) === null) await kv.removeFromSet(key, member);
    }
    await kv.addToSet(key, `${userId} ${idHash}`, ttlMs);
  }
}

/** A SAML provider's names of sessions. */
interface SamlNames {
  provider: ProviderId;
  nameId: string;
  /** The session indexes; empty: all sessions of the user. */
  indexes: readonly string[];
}

/** An OpenID provider's: of a person, of a session, or of both, and then of that person's session alone. */
interface OidcNames {
  provider: ProviderId;
  issuer: string;
  subject?: string | undefined;
  sid?: string | undefined;
}

export type UpstreamNames = SamlNames | OidcNames;

function toKey(names: UpstreamNames): string | undefined {
  if ('nameId' in names) return samlKey(names.provider, names.nameId);
  const { provider, issuer, subject, sid } = names;
  if (sid !== undefined) return oidcKey(provider, issuer, ['sid', sid]);
  return subject === undefined ? undefined : oidcKey(provider, issuer, ['sub', subject]);
}

function isMeant({ upstream }: SessionUser, names: UpstreamNames): boolean {
  if ('nameId' in names) {
    const index = upstream?.saml?.sessionIndex;
    return names.indexes.length === 0 || index === undefined || names.indexes.includes(index);
  }
  return names.subject === undefined || upstream?.oidc?.subject === names.subject;
}

/** The sessions that a provider's logout request refers to. */
export async function findUpstreamSessions(
  kv: KeyValueStore,
  names: UpstreamNames,
): Promise<{ userId: UserId; idHash: SessionIdHash }[]> {
  const key = toKey(names);
  const members = key === undefined ? [] : await kv.setMembers(key);
  const found: { userId: UserId; idHash: SessionIdHash }[] = [];
  for (const batch of batches(members)) {
    const meant = batch.map(async (member) => {
      const [id = '', hash = ''] = member.split(' ');
      const idHash = toSessionIdHash(hash);
      const user = await findUser(kv, idHash);
      return user && isMeant(user, names) ? [{ userId: toUserId(id), idHash }] : [];
    });
    found.push(...(await Promise.all(meant)).flat());
  }
  return found;
}
