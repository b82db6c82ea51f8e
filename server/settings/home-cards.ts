import type { Request } from 'express';
import type { ReactElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import type { SettingsTab } from '../../views/settings/tabs.ts';
import type { AccountDeps } from './deps.ts';
import { deviceCard } from './devices-handlers.ts';
import { exportCard } from './export-handlers.ts';
import { deletionCancelledCard, factorResetCard } from './factor-reset-card.ts';
import { membershipCard, unpaidCard } from './membership-handlers.ts';
import { mfaCard } from './mfa-handlers.ts';
import type { SignedInUser } from './require-recent-auth.ts';
import { signInCard } from './sign-in-card.ts';

/** What a subject shows on the home: reads what it needs, and answers how it looks; undefined where there is nothing to show. */
export type HomeCardSource = (
  deps: AccountDeps,
  req: Request,
  member: SignedInUser,
) => Promise<((ctx: PageContext) => ReactElement) | undefined>;

/**
 * The other subjects' cards, in the order in which they stand: above everything (what waits for the member's decision), and
 * in each panel behind its own first card.
 */
export const homeCards: Record<'top' | SettingsTab, readonly HomeCardSource[]> = {
  top: [factorResetCard, unpaidCard, deletionCancelledCard],
  'sign-in': [signInCard, membershipCard],
  'user-data': [exportCard],
  'device-data': [deviceCard],
  'mfa-data': [mfaCard],
};
