import type { SettingsTab } from '../../views/account/tabs.ts';
import { deleteCard } from './deletion/delete-account-handlers.ts';
import { deviceCard } from './devices/devices-handlers.ts';
import { exportCard } from './export/export-handlers.ts';
import { deletionCancelledCard, factorResetCard } from './factor-reset/factor-reset-card.ts';
import { greetingCard } from './greeting-card.ts';
import type { HomeCardSource } from './home-card-source.ts';
import { membershipCard, unpaidCard } from './membership/membership-handlers.ts';
import { mfaCard } from './security/mfa-handlers.ts';
import { connectedAppsCard, signInCard } from './security/sign-in-card.ts';

/**
 * The other subjects' cards, in their order: above everything (decisions that wait for the user), and in each panel
 * after its own first card.
 */
export const homeCards: Record<'top' | SettingsTab, readonly HomeCardSource[]> = {
  top: [greetingCard, factorResetCard, unpaidCard, deletionCancelledCard],
  'sign-in': [signInCard, connectedAppsCard, membershipCard],
  'user-data': [exportCard, deleteCard],
  'device-data': [deviceCard],
  'mfa-data': [mfaCard],
};
