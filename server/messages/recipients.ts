import type { Language } from '../../locales/index.ts';

/** What this room asks of members. */
export interface Recipient {
  userId: string;
  email: string;
  givenName: string;
  lang: Language;
}

/** Who may be written to. A disabled member is none. */
export interface RecipientDirectory {
  /** By an address as it was sent, in any case of letters. */
  byEmail(email: string): Promise<Recipient | undefined>;
  byId(userId: string): Promise<Recipient | undefined>;
}
