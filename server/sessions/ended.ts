import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import { getCurrentSession } from './session.ts';
import { sessionCookie } from './session-middleware.ts';

/** The hash of the ended session about which the user has been notified. */
const toldCookie = 'foyer_signed_out';
const markCharacters = 16;

/**
 * Tests whether this browser has a session that has ended elsewhere or expired, and has not been notified yet. The
 * session cookie stays: another tab may be setting it for a new sign-in at this moment, and a later deletion would sign
 * the user out again.
 */
export function isSignedOutElsewhere(cookies: HostCookies, req: Request, res: Response): boolean {
  const held = cookies.read(req, sessionCookie);
  if (held === undefined || req.method !== 'GET' || getCurrentSession(req)) return false;
  const mark = sha256(held).slice(0, markCharacters);
  if (cookies.read(req, toldCookie) === mark) return false;
  cookies.set(res, toldCookie, { value: mark });
  return true;
}
