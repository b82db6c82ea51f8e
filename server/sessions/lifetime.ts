import type { SessionUser } from './session.ts';

export interface Lifetimes {
  /** Idle timeout of a session that is not remembered. */
  idleMs: number;
  /** Maximum lifetime of a session that is not remembered, from the sign-in, however much it is used. */
  maxMs: number;
  /** Lifetime of a remembered session, from the sign-in. */
  rememberMs: number;
}

type Lived = Pick<SessionUser, 'remember' | 'authTimeMs' | 'startedAtMs'>;

/**
 * The latest end of a session, in milliseconds since the epoch. It counts from the sign-in at Foyer: `authTimeMs` of a
 * sign-in with a provider may be days old. NIST SP 800-63B-4 sets 30 days at AAL1 and 24 hours at AAL2.
 */
export function endsAtMs(session: Lived, { maxMs, rememberMs }: Pick<Lifetimes, 'maxMs' | 'rememberMs'>): number {
  return (session.startedAtMs ?? session.authTimeMs) + (session.remember ? rememberMs : maxMs);
}
