import type { Request } from 'express';
import type { TermsVersion, User } from '../account/index.ts';
import { returnAddress } from '../http/index.ts';
import { nextStep, type Step } from './next-step.ts';

/** Where a visitor was going when the sign-in came between: the parameters that every page of it carries along. */
export interface Errand {
  /** The pending authorization request's id (the specification's `authorization_code`). */
  authorization?: string;
  /** Checked against this site. */
  returnTo?: string;
  /** The parameters as given, for links and form actions: `?…` or ''. */
  search: string;
}

const carried = ['client_id', 'redirect_uri', 'authorization_code', 'state', 'redirect', 'forceAuth'] as const;

/** Reads the errand from the query; parameters given twice or overlong are ignored, as they cannot be ours. */
export function errandOf(req: Request, publicUrl: string): Errand {
  const kept = new URLSearchParams();
  for (const name of carried) {
    const value = req.query[name];
    if (typeof value === 'string' && value.length <= 2_000) kept.set(name, value);
  }
  const authorization = kept.get('authorization_code') || undefined;
  const returnTo = returnAddress(kept.get('redirect'), publicUrl);
  return {
    ...(authorization !== undefined && { authorization }),
    ...(returnTo !== undefined && { returnTo }),
    search: kept.size > 0 ? `?${kept}` : '',
  };
}

export interface WayOnSettings {
  publicUrl: string;
  searchAppUrl: string;
  terms: TermsVersion;
  plansAreSold: boolean;
}

/** What comes next for a signed-in member, and its address. */
export type WayOn = (user: User, errand: Errand) => { step: Step; address: string };

export function createWayOn({ publicUrl, searchAppUrl, terms, plansAreSold }: WayOnSettings): WayOn {
  const verifyUser = (errand: Errand) => `/verify-user${errand.search}`;
  return (user, errand) => {
    const step = nextStep({
      secondFactorPending: false,
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
          const after =
            errand.authorization === undefined ? errand.returnTo : new URL(verifyUser(errand), publicUrl).href;
          return after === undefined ? '/tos' : `/tos?${new URLSearchParams({ redirect: after })}`;
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
