import type { TermsVersion, User } from '../account/index.ts';
import type { Errand } from '../http/index.ts';
import { nextStep, type Step } from './next-step.ts';

export interface WayOnSettings {
  publicUrl: string;
  searchAppUrl: string;
  terms: TermsVersion;
  plansAreSold: boolean;
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

export function createWayOn({ publicUrl, searchAppUrl, terms, plansAreSold }: WayOnSettings): WayOn {
  const verifyUser = (errand: Errand) => `/verify-user${errand.search}`;
  return (user, errand, { secondFactorPending } = { secondFactorPending: false }) => {
    const step = nextStep({
      secondFactorPending,
      user,
      terms,
      authorization: errand.authorization,
      returnTo: errand.returnTo,
      plansAreSold,
    });
    return { step, address: addressOf(step) };

    function addressOf(next: Step): string {
      switch (next.kind) {
        case 'second-factor':
          return `/second-factor${errand.search}`;
        case 'confirm-email':
          return `/verify-code${errand.search}`;
        case 'accept-terms': {
          // Without an errand the start page knows where members go.
          const after = errand.authorization === undefined ? (errand.returnTo ?? '/') : verifyUser(errand);
          return `/tos?${new URLSearchParams({ redirect: new URL(after, publicUrl).href })}`;
        }
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
