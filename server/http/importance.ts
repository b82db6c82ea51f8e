/** How much a request matters to a process that has more to do than it can (docs/decisions/0030-overload.md). */
import type { IncomingMessage } from 'node:http';
import type { HostCookies } from './cookies.ts';
import { ipBucket } from './rate-limits/consume.ts';

/** `begun`: it finishes something that has begun or was paid; `member`: of a browser in which a user has signed in. */
export type Importance = 'visit' | 'member' | 'begun';

/** The part of the requests, and the multiple of the turn, up to which each importance is admitted. */
export const shares: Readonly<Record<Importance, { requests: number; turns: number }>> = {
  visit: { requests: 0.6, turns: 1 },
  member: { requests: 0.85, turns: 2 },
  begun: { requests: 1, turns: 4 },
};

/** Requests that may be preferred each second: of one browser, of one address, and of all addresses together. */
const preferred = { browser: 10, address: 50, addresses: 200 } as const;
const maxShares = 10_000;

/**
 * Counts preferred requests, so that neither one cookie sent a thousand times nor calls without proof displace others.
 * They are counted in this process, because a shared counter would cost more than most requests.
 */
export function preferredShares(now: () => number) {
  const counts = new Map<string, number>();
  let second = Number.NaN;
  return {
    /** @returns whether one more request of this holder is preferred */
    take(holder: string, max: number): boolean {
      const current = Math.floor(now() / 1_000);
      if (current !== second) counts.clear();
      second = current;
      const count = counts.get(holder) ?? 0;
      if (count >= max || (count === 0 && counts.size >= maxShares)) return false;
      counts.set(holder, count + 1);
      return true;
    },
  };
}

/** Calls that finish what has begun, though their proof is too costly to verify here. */
const finishing =
  /^(?:POST \/oauth2\/token|(?:GET|POST) \/oauth2\/userInfo|POST \/webhooks\/stripe|(?:GET|POST) \/federation\/[^/?]+\/callback)(?:\?|$)/;

export interface ImportanceSettings {
  cookies: HostCookies;
  sessionCookie: string;
  /** The id of a browser in which a user has signed in, by a signed cookie. */
  findReturning(req: IncomingMessage): string | undefined;
  getAddress(req: IncomingMessage): string;
}

export function importanceBy(
  { cookies, sessionCookie, findReturning, getAddress }: ImportanceSettings,
  now: () => number,
): (req: IncomingMessage) => Importance {
  const { take } = preferredShares(now);
  return (req) => {
    const browser = findReturning(req);
    if (browser !== undefined && take(`browser ${browser}`, preferred.browser))
      return req.method === 'POST' && cookies.read(req, sessionCookie) !== undefined ? 'begun' : 'member';
    const isFinishing = finishing.test(`${req.method} ${req.url}`);
    if (!isFinishing || !take(`address ${ipBucket(getAddress(req))}`, preferred.address)) return 'visit';
    return take('addresses', preferred.addresses) ? 'begun' : 'visit';
  };
}
