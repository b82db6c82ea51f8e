/** The specification's profile tabs: the home's panels, and the values of its address's `tab`. */
export const settingsTabs = ['sign-in', 'mfa-data', 'device-data', 'user-data'] as const;
export type SettingsTab = (typeof settingsTabs)[number];

/** The place of an action: a panel of the home, or the page of the membership. */
export type AccountLocation = SettingsTab | 'membership';

export const membershipPath = '/settings/membership';
/** A cancellation without a sign-in. */
export const cancelByMailPath = '/cancel-membership';
export const panelId = (tab: SettingsTab) => `panel-${tab}`;
export const tabAddress = (tab: AccountLocation) => (tab === 'membership' ? membershipPath : `/settings?tab=${tab}`);
/** The same, at the start of the panel: on a phone it is below the fold. */
export const panelAddress = (tab: SettingsTab) => `${tabAddress(tab)}#${panelId(tab)}`;
