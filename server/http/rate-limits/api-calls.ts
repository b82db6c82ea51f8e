import type { Request } from 'express';
import { requirePrincipal } from '../access.ts';
import type { CallLimits } from '../api-operation.ts';
import type { RateLimits } from './configure.ts';
import type { Limit, LimitStore } from './consume.ts';
import type { Scope } from './definition.ts';
import { rateLimiter } from './express.ts';
import { apiCallsPerMinute } from './limits.ts';

function callerKey(req: Request): string {
  const principal = requirePrincipal(req);
  return principal.kind === 'member' ? `member:${principal.userId}` : `client:${principal.clientId}`;
}

/** The client app's registered number for this call or for all calls, instead of the one in the table. */
const maxOrRegistered = (max: number, id?: string) => (req: Request) => {
  const principal = requirePrincipal(req);
  if (principal.kind !== 'client') return max;
  const { callsPerMinute = max, callsPerMinuteByCall = {} } = principal;
  return (id === undefined ? undefined : callsPerMinuteByCall[id]) ?? callsPerMinute;
};

/** Each call has counters and a maximum of its own. */
function toCallLimit<By extends Scope>(limit: Limit<By>, id: string, max: number | undefined): Limit<By> {
  const counters = limit.counters.map((one) => ({ ...one, key: `${one.key}:${id}`, max: max ?? one.max }));
  return { ...limit, counters };
}

/**
 * The limits of the JSON API. Public calls are counted by the address of the request; all others by their caller, whatever
 * its session or address.
 * @param configured the maxima of single calls, by the id of the call
 */
export function apiCallLimits(
  kv: LimitStore,
  { apiCall, publicApiCall, apiCallForVisitors }: Pick<RateLimits, 'apiCall' | 'publicApiCall' | 'apiCallForVisitors'>,
  configured: ReadonlyMap<string, number> = new Map(),
): CallLimits {
  const perMinute: Readonly<Partial<Record<string, number>>> = {
    ...apiCallsPerMinute,
    ...Object.fromEntries(configured),
  };
  return {
    call({ id, access }) {
      if (access === 'public') return rateLimiter(kv, toCallLimit<'address'>(publicApiCall, id, perMinute[id]));
      const limit = toCallLimit<'client'>(apiCall, id, perMinute[id]);
      return rateLimiter(kv, limit, { toKey: callerKey, max: maxOrRegistered(limit.counters[0]?.max ?? 0, id) });
    },
    forVisitors: rateLimiter(kv, apiCallForVisitors, {
      toKey: callerKey,
      max: maxOrRegistered(apiCallForVisitors.counters[0]?.max ?? 0),
    }),
  };
}
