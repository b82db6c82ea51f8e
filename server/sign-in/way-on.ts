import type { TermsVersion, User } from '../account/index.ts';
import { type Errand, pathsBeforeTerms } from '../http/index.ts';
import { lacksDemandedFactor, nextStep, type Step } from './next-step.ts';

export interface WayOnSettings {
  publicUrl: string;
  searchAppUrl: string;
  terms: TermsVersion;
  plansAreSold: boolean;
  now: () => number;
}

/** Where a member sets up a second factor, and what belongs to it: the number that it may go to, and the recovery codes. */
const setUpPath = '/settings/mfa';
const setUpPaths = [setUpPath, '/settings/phone', '/settings/recovery-codes'];

/** Whether a page is one of those on which a second factor is set up: it stays open while everything else waits for that. */
export function isSetUpPage(address: string | undefined, publicUrl: string): address is string {
  if (address === undefined) return false;
  const { pathname } = new URL(address, publicUrl);
  return setUpPaths.some((path) => pathname === path || pathname.startsWith(`${path}/`));
}

/** Whether a page is open before the acceptance; so is the set-up of a second factor that these pages wait for. */
function isBeforeTerms({ authorization, returnTo }: Errand, user: User, publicUrl: string): boolean {
  if (authorization !== undefined || returnTo === undefined) return false;
  if (lacksDemandedFactor(user) && isSetUpPage(returnTo, publicUrl)) return true;
  return pathsBeforeTerms.includes(new URL(returnTo, publicUrl).pathname);
}

/**
 * What comes next for a member, and its address.
 * @param more.secondFactorPending the member is not signed in yet: the second factor is due
 */
export type WayOn = (
  user: User,
  errand: Errand,
  more?: { secondFactorPending: boolean },
) => { step: Step; address: string };

export function createWayOn({ publicUrl, searchAppUrl, terms, plansAreSold, now }: WayOnSettings): WayOn {
  const verifyUser = (errand: Errand) => `/verify-user${errand.search}`;
  /** Where a step leads that comes between: without an errand the start page knows where members go. */
  const after = (errand: Errand) => {
    const address = errand.authorization === undefined ? (errand.returnTo ?? '/') : verifyUser(errand);
    return new URL(address, publicUrl).href;
  };
  return (user, errand, { secondFactorPending } = { secondFactorPending: false }) => {
    const step = nextStep({
      secondFactorPending,
      user,
      terms,
      beforeTerms: isBeforeTerms(errand, user, publicUrl),
      authorization: errand.authorization,
      returnTo: errand.returnTo,
      plansAreSold,
      nowMs: now(),
    });
    return { step, address: addressOf(step) };

    function addressOf(next: Step): string {
      switch (next.kind) {
        case 'second-factor':
          return `/second-factor${errand.search}`;
        case 'confirm-email':
          return `/verify-code${errand.search}`;
        case 'accept-terms':
          return `/tos?${new URLSearchParams({ redirect: after(errand) })}`;
        case 'set-up-second-factor':
          // Who was asked again who they are on one of its pages comes back to that very page.
          if (errand.authorization === undefined && isSetUpPage(errand.returnTo, publicUrl)) return errand.returnTo;
          return `${setUpPath}?${new URLSearchParams({ redirect: after(errand) })}`;
        case 'authorization':
          return verifyUser(errand);
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
