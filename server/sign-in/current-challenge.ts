import type { Request } from 'express';
import { type Continuation, continuationFrom, continuationFromQuery } from '../http/index.ts';
import type { ChallengeMethod, MfaChallenge } from '../mfa/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

/** What the address of the page to begin anew at says of it. */
export const challengeExpiredNotice = 'second-factor-over';

/** A challenge of this browser that can still be answered. */
export interface CurrentChallenge {
  id: string;
  challenge: MfaChallenge;
  user: User;
  /** What it may be answered with, the preferred way first. */
  methods: ChallengeMethod[];
  continuation: Continuation;
}

/** The errand of the address, else the one that the sign-in began with: each tab goes its own way. */
function currentContinuation(req: Request, publicUrl: string, challenge: MfaChallenge): Continuation {
  const context = continuationFrom(req, publicUrl);
  return context.search === '' ? continuationFromQuery(challenge.continuation, publicUrl) : context;
}

/** Undefined: there is none, it is void by now, or it is of a member who is not signed in here any more. */
export async function findCurrentChallenge(deps: SignInDeps, req: Request): Promise<CurrentChallenge | undefined> {
  const own = await deps.mfa.challenges.current(req);
  const state = own && (await deps.mfa.getChallengeState(own.challenge));
  if (!own || !state) return undefined;
  // Who is asked again must be signed in still, and be the same.
  if (own.challenge.intent === 're-authenticate') {
    const member = await deps.sessions.getCurrentUser(req);
    if (member?.user.id !== state.user.id) return undefined;
  }
  return { ...own, ...state, continuation: currentContinuation(req, deps.publicUrl, own.challenge) };
}
