import type { Request } from 'express';
import type { User } from '../account/index.ts';
import { type Errand, errandOf, errandOfSearch } from '../http/index.ts';
import type { Challenge, Method } from '../mfa/index.ts';
import type { SignInDeps } from './deps.ts';

/** What the address of the page to begin anew at says of it. */
export const overNotice = 'second-factor-over';

/** A challenge of this browser that can still be answered. */
export interface Standing {
  id: string;
  challenge: Challenge;
  user: User;
  /** What it may be answered with, the preferred way first. */
  methods: Method[];
  errand: Errand;
}

/** The errand of the address, else the one that the sign-in began with: each tab goes its own way. */
function errandFor(req: Request, publicUrl: string, challenge: Challenge): Errand {
  const here = errandOf(req, publicUrl);
  return here.search === '' ? errandOfSearch(challenge.errand, publicUrl) : here;
}

/** Undefined: there is none, it is void by now, or it is of a member who is not signed in here any more. */
export async function standingOf(deps: SignInDeps, req: Request): Promise<Standing | undefined> {
  const own = await deps.mfa.challenges.of(req);
  const standing = own && (await deps.mfa.standingOf(own.challenge));
  if (!own || !standing) return undefined;
  // Who is asked again must be signed in still, and be the same.
  if (own.challenge.intent === 're-authenticate') {
    const member = await deps.sessions.member(req);
    if (member?.user.id !== standing.user.id) return undefined;
  }
  return { ...own, ...standing, errand: errandFor(req, deps.publicUrl, own.challenge) };
}
