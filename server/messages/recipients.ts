import type { Language } from '../../locales/index.ts';
import type { UserId } from '../shared/index.ts';

/** The data about users that this module needs. */
export interface Recipient {
  userId: UserId;
  email: string;
  givenName: string;
  lang: Language;
}

/** The possible recipients. Disabled users are excluded. */
export interface RecipientDirectory {
  /** By an address as it was sent, case-insensitive. */
  byEmail(email: string): Promise<Recipient | undefined>;
  byId(userId: UserId): Promise<Recipient | undefined>;
}
