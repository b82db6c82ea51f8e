import type { SessionUser } from './session.ts';

export interface Lifetimes {
  /** A session that is not remembered ends after this time without a request. */
  idleMs: number;
  /** A session that is not remembered ends this long after the sign-in, however much it is used. */
  maxMs: number;
  /** A remembered session ends this long after the sign-in. */
  rememberMs: number;
}

type Lived = Pick<SessionUser, 'remember' | 'authTimeMs' | 'startedAtMs'>;

/**
 * When a session ends at the latest, in milliseconds since the epoch. The time counts from the sign-in here: `authTimeMs` of a
 * sign-in by a provider may be days old. NIST SP 800-63B-4 sets 30 days at AAL1 and 24 hours at AAL2.
 */
export function endsAtMs(session: Lived, { maxMs, rememberMs }: Pick<Lifetimes, 'maxMs' | 'rememberMs'>): number {
  return (session.startedAtMs ?? session.authTimeMs) + (session.remember ? rememberMs : maxMs);
}
