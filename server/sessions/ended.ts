import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import { sessionCookie } from './middleware.ts';
import { getCurrentSession } from './session.ts';

/** Names the ended session of which the member has been told. */
const toldCookie = 'foyer_signed_out';
const markCharacters = 16;

/**
 * Whether this browser holds a session that has ended elsewhere or by itself, of which it has not been told yet. The
 * session's own cookie stays: in another tab a new sign-in may be setting it at this moment, and a deletion that arrives
 * later would sign the member out again.
 */
export function isSignedOutElsewhere(cookies: HostCookies, req: Request, res: Response): boolean {
  const held = cookies.read(req, sessionCookie);
  if (held === undefined || req.method !== 'GET' || getCurrentSession(req)) return false;
  const mark = sha256(held).slice(0, markCharacters);
  if (cookies.read(req, toldCookie) === mark) return false;
  cookies.set(res, toldCookie, mark);
  return true;
}
