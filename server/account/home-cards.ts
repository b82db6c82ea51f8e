import type { HomeCard } from '../../views/account/home-card.tsx';
import type { SettingsTab } from '../../views/account/tabs.ts';
import type { UserRequest } from '../sign-in/index.ts';
import type { AccountDeps } from './deps.ts';
import { deviceCard } from './devices/devices-handlers.ts';
import { exportCard } from './export/export-handlers.ts';
import { deletionCancelledCard, factorResetCard } from './factor-reset/factor-reset-card.ts';
import { membershipCard, unpaidCard } from './membership/membership-handlers.ts';
import { mfaCard } from './security/mfa-handlers.ts';
import { signInCard } from './security/sign-in-card.ts';

/** A subject's card on the home: reads its data and returns its view; undefined if there is nothing to show. */
export type HomeCardSource = (r: UserRequest, deps: AccountDeps) => Promise<HomeCard | undefined>;

/**
 * The other subjects' cards, in their order: above everything (decisions that wait for the user), and in each panel
 * after its own first card.
 */
export const homeCards: Record<'top' | SettingsTab, readonly HomeCardSource[]> = {
  top: [factorResetCard, unpaidCard, deletionCancelledCard],
  'sign-in': [signInCard, membershipCard],
  'user-data': [exportCard],
  'device-data': [deviceCard],
  'mfa-data': [mfaCard],
};
