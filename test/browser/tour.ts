import type { Page } from 'playwright-core';
import type { Language } from '../../server/http/index.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { type RelyingParty, relyingParty } from '../support/relying-party.ts';
import type { Sandbox } from './sandbox.ts';
import { activityStops } from './tour-activity.ts';
import { checkoutStops } from './tour-checkout.ts';
import { checkoutWordsStops } from './tour-checkout-words.ts';
import { clientAppStops } from './tour-client-apps.ts';
import { connectedAppStops } from './tour-connected-apps.ts';
import { contactStops } from './tour-contact.ts';
import { dashboardStops } from './tour-dashboard.ts';
import { deletionStops } from './tour-deletion.ts';
import { deviceCodeStops } from './tour-device-codes.ts';
import { deviceStops } from './tour-devices.ts';
import { errorStops } from './tour-errors.ts';
import { type FederatedHouse, federationStops, openFederatedHouse } from './tour-federation.ts';
import { importedStops } from './tour-imported.ts';
import { linkedStops } from './tour-linked.ts';
import { mailedCodeStops } from './tour-mailed-code.ts';
import { membershipStops } from './tour-membership.ts';
import { mfaSettingsStops } from './tour-mfa-settings.ts';
import { type EuroShop, euroShops, moneyStops } from './tour-money.ts';
import { notificationStops } from './tour-notifications.ts';
import { passkeyStops } from './tour-passkeys.ts';
import { paymentStops } from './tour-payment.ts';
import { sandboxStops } from './tour-sandbox.ts';
import { secondFactorStops } from './tour-second-factor.ts';
import { settingsStops } from './tour-settings.ts';
import { signInStops } from './tour-sign-in.ts';
import { signUpStops } from './tour-sign-up.ts';
import { createTourSteps } from './tour-steps.ts';
import { termsStops } from './tour-terms.ts';

/** One page in one of its states, and the steps that lead a new browser to it. */
export interface Stop {
  name: string;
  /** Differs from another stop only in its texts: it is for pictures, and no test measures it again. */
  otherWords?: true;
  open(page: Page, lang: Language): Promise<unknown>;
}

/** What the tour needs besides the sandbox. */
export interface TourGuide {
  sandbox: Sandbox;
  /** A client app that is not the marketplace's own. */
  thirdPartyUrl: string;
  /** A client app of the marketplace that changes credentials and buys. */
  desk: RelyingParty;
  /** A Foyer that sells plans; it starts with the first call. */
  shop(): Promise<Shop>;
  /** A Foyer that sells plans in the EU; each starts with the first call. */
  euroShop(which: EuroShop): Promise<Shop>;
  /** A Foyer with many providers; it starts with the first call. */
  federated(): Promise<FederatedHouse>;
  /** Closes the sandbox too. */
  close(): Promise<void>;
}

const deskScope = 'openid account account:security account:payments';

export async function prepareTour(sandbox: Sandbox): Promise<TourGuide> {
  const desk = await sandbox.foyer.addClient({ id: 'desk', name: 'Member Desk', scopes: deskScope.split(' ') });
  let opened: Promise<Shop> | undefined;
  const euro = new Map<EuroShop, Promise<Shop>>();
  let federated: Promise<FederatedHouse> | undefined;
  return {
    sandbox,
    shop() {
      opened ??= openShop();
      return opened;
    },
    euroShop(which) {
      const known = euro.get(which) ?? openShop(euroShops[which](), { draftsRenewals: true });
      euro.set(which, known);
      return known;
    },
    federated() {
      federated ??= openFederatedHouse();
      return federated;
    },
    async close() {
      await (await opened)?.close();
      for (const house of euro.values()) await (await house).close();
      await (await federated)?.close();
      await sandbox.close();
    },
    thirdPartyUrl: await sandbox.addApp({
      id: 'orchard',
      name: 'Orchard Analytics',
      thirdParty: true,
      scopes: ['openid', 'profile', 'email', 'phone', 'membership'],
    }),
    desk: await relyingParty(sandbox.foyer, desk, deskScope),
  };
}

/** Every page of the product, each in all its states. */
export function tour(guide: () => TourGuide): Stop[] {
  const steps = createTourSteps(guide);
  const { become, signIn } = steps;
  const foyer = () => guide().sandbox.foyer;
  const shop = () => guide().shop();
  const house = () => guide().federated();
  return [
    ...signInStops(steps),
    ...signUpStops(steps),
    ...clientAppStops(steps),
    ...termsStops(steps),
    ...secondFactorStops({ foyer, signIn }),
    ...settingsStops({ foyer, signIn }),
    ...passkeyStops({ foyer, signIn }),
    ...mfaSettingsStops({ foyer, signIn }),
    ...contactStops({ foyer, signIn }),
    ...membershipStops({ shop, become }),
    ...checkoutStops({ shop, become }),
    ...checkoutWordsStops({ shop, become }),
    ...paymentStops({ shop, become }),
    ...moneyStops({ euroShop: (which) => guide().euroShop(which), become }),
    ...dashboardStops({ shop, become }),
    ...federationStops({ house, become }),
    ...linkedStops({ house, become }),
    ...connectedAppStops({ house, become }),
    ...importedStops({ foyer }),
    ...mailedCodeStops({ foyer }),
    ...deletionStops({ foyer, signIn }),
    ...deviceStops({ foyer, signIn }),
    ...notificationStops({ foyer, signIn }),
    ...activityStops({ foyer, signIn }),
    ...deviceCodeStops({ foyer, signIn }),
    ...errorStops(steps),
    ...sandboxStops(steps),
  ];
}
