import { type Continuation, pathsBeforeTerms } from '../http/index.ts';
import { mustSetUpSecondFactor, type TermsVersion, type User } from '../users/index.ts';
import type { Step } from './next-step.ts';
import { transition } from './sign-in-state.ts';

interface NextRedirectSettings {
  publicUrl: string;
  searchAppUrl: string;
  terms: TermsVersion;
  plansAreSold: boolean;
  now: () => number;
}

/** The pages on which a user sets up a second factor, its phone number and the recovery codes. */
const enrolmentPath = '/settings/mfa';
const setUpPaths = [enrolmentPath, '/settings/phone', '/settings/recovery-codes'];

/**
 * Tests whether a page belongs to the set-up of a second factor: it stays open while everything else waits for that.
 */
export function isEnrolmentPage(address: string | undefined, publicUrl: string): address is string {
  if (address === undefined) return false;
  const { pathname } = new URL(address, publicUrl);
  return setUpPaths.some((path) => pathname === path || pathname.startsWith(`${path}/`));
}

/**
 * Tests whether a page is open before the terms are accepted. The set-up of a second factor is open too if such a page
 * requires it.
 */
function isBeforeTerms({ authorization, returnTo }: Continuation, user: User, publicUrl: string): boolean {
  if (authorization !== undefined || returnTo === undefined) return false;
  if (mustSetUpSecondFactor(user) && isEnrolmentPage(returnTo, publicUrl)) return true;
  return pathsBeforeTerms.includes(new URL(returnTo, publicUrl).pathname);
}

/**
 * The next step of a user, and its address.
 * @param more.secondFactorPending the user is not signed in yet: the second factor is required
 */
export type NextRedirect = (
  user: User,
  continuation: Continuation,
  more?: { secondFactorPending: boolean },
) => { step: Step; address: string };

export function createNextRedirect({
  publicUrl,
  searchAppUrl,
  terms,
  plansAreSold,
  now,
}: NextRedirectSettings): NextRedirect {
  const verifyUser = (continuation: Continuation) => `/verify-user${continuation.search}`;
  /** The target of a step in between. Without a continuation the start page decides. */
  const afterInterruptUrl = (continuation: Continuation) => {
    const address =
      continuation.authorization === undefined ? (continuation.returnTo ?? '/') : verifyUser(continuation);
    return new URL(address, publicUrl).href;
  };
  return (user, continuation, { secondFactorPending } = { secondFactorPending: false }) => {
    const facts = {
      user,
      terms,
      beforeTerms: isBeforeTerms(continuation, user, publicUrl),
      authorization: continuation.authorization,
      returnTo: continuation.returnTo,
      plansAreSold,
      nowMs: now(),
    };
    const state = { kind: secondFactorPending ? 'second-factor-required' : 'signed-in' } as const;
    const { step } = transition(state, { kind: 'continued', facts });
    return { step, address: stepUrl(step) };

    function stepUrl(next: Step): string {
      switch (next.kind) {
        case 'second-factor':
          return `/second-factor${continuation.search}`;
        case 'confirm-email':
          return `/verify-code${continuation.search}`;
        case 'accept-terms':
          return `/tos?${new URLSearchParams({ redirect: afterInterruptUrl(continuation) })}`;
        case 'set-up-second-factor':
          // A user who re-authenticated on one of its pages returns to that page.
          if (continuation.authorization === undefined && isEnrolmentPage(continuation.returnTo, publicUrl))
            return continuation.returnTo;
          return `${enrolmentPath}?${new URLSearchParams({ redirect: afterInterruptUrl(continuation) })}`;
        case 'authorization':
          return verifyUser(continuation);
        case 'return':
          return next.address;
        case 'partner-upgrade':
          return `/plan-purchase-appsumo/?${new URLSearchParams({ plan: next.planId })}`;
        case 'choose-plan':
          return '/plan-purchase';
        case 'search-app':
          return searchAppUrl;
      }
    }
  };
}
