import type { Language } from '../../locales/index.ts';
import type { UserId } from '../shared/index.ts';

/** What this room asks of members. */
export interface Recipient {
  userId: UserId;
  email: string;
  givenName: string;
  lang: Language;
}

/** Who may be written to. A disabled member is none. */
export interface RecipientDirectory {
  /** By an address as it was sent, in any case of letters. */
  byEmail(email: string): Promise<Recipient | undefined>;
  byId(userId: UserId): Promise<Recipient | undefined>;
}
