/** Pages and apps of the sandbox, in the order of its overview. */
export const placeNames = [
  'demoApp',
  'television',
  'mailbox',
  'mails',
  'billing',
  'providers',
  'refusals',
  'search',
  'main',
  'account',
  'help',
  'privacy',
  'parts',
] as const;
type PlaceName = (typeof placeNames)[number];
/** The address of each. */
export type SandboxPlaces = Partial<Record<PlaceName, string>>;

export const overviewAddress = '/sandbox';
export const providersPageAddress = '/sandbox/providers';
