/**
 * The room of how members are reached: changing the e-mail address, which can be undone for 72 hours (`security.md`, rule 14),
 * and the phone number (E.164).
 *
 * Owns both changes with their codes, the page that undoes one, and their JSON calls. Does not own the pages under /settings
 * (settings/), where addresses and numbers are stored (account/) nor what text messages may cost (messages/).
 */
export type { ContactChangeKind, PendingContactChange } from './flows.ts';
export type { PhoneRefusal } from './phone-change.ts';
export type { CodeRejection, CodeThrottled } from './prove.ts';
export { type ContactModule, createContactModule } from './room.ts';
