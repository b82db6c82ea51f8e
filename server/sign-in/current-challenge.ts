import { type Continuation, continuationFromQuery, type RequestContext } from '../http/index.ts';
import { type ChallengeMethod, getChallengeState, type MfaChallenge } from '../mfa/index.ts';
import type { FlowId } from '../shared/index.ts';
import type { User } from '../users/index.ts';
import type { SignInDeps } from './deps.ts';

/** Notice on the page where the user starts again. */
export const challengeExpiredNotice = 'second-factor-over';

/** An open challenge of this browser. */
export interface CurrentChallenge {
  id: FlowId;
  challenge: MfaChallenge;
  user: User;
  /** The possible methods, the preferred one first. */
  methods: ChallengeMethod[];
  continuation: Continuation;
}

/** The continuation of the address, else that of the start of the sign-in: each tab has its own. */
const currentContinuation = ({ continuation }: RequestContext, challenge: MfaChallenge, publicUrl: string) =>
  continuation.search === '' ? continuationFromQuery(challenge.continuation, publicUrl) : continuation;

/** Undefined if there is none, if it is no longer valid, or if its user is no longer signed in here. */
export async function findCurrentChallenge(r: RequestContext, deps: SignInDeps): Promise<CurrentChallenge | undefined> {
  const own = await deps.mfa.challenges.current(r.req);
  const state = own && (await getChallengeState(deps.mfa, own.challenge));
  if (!own || !state) return undefined;
  // Re-authentication requires that the same user is still signed in.
  if (own.challenge.intent === 're-authenticate') {
    const member = await deps.sessions.getCurrentUser(r.req);
    if (member?.user.id !== state.user.id) return undefined;
  }
  return { ...own, ...state, continuation: currentContinuation(r, own.challenge, deps.publicUrl) };
}
