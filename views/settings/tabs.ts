/** The specification's profile tabs: the home's panels, and the values of its address's `tab`. */
export const settingsTabs = ['sign-in', 'user-data', 'device-data', 'mfa-data'] as const;
export type SettingsTab = (typeof settingsTabs)[number];

export const panelId = (tab: SettingsTab) => `panel-${tab}`;
export const tabAddress = (tab: SettingsTab) => `/settings?tab=${tab}`;
/** The same, where the panel begins: on a phone it lies below the fold. */
export const panelAddress = (tab: SettingsTab) => `${tabAddress(tab)}#${panelId(tab)}`;
