/**
 * The room of how members are reached: changing the e-mail address, which can be undone for 72 hours (`security.md`, rule 14),
 * and the phone number (E.164).
 *
 * Owns both changes with their codes, the page that undoes one, and their JSON calls. Does not own the pages under /settings
 * (settings/), where addresses and numbers are stored (account/) nor what text messages may cost (messages/).
 */

export type { PhoneRefusal } from './change-phone.ts';
export type { ContactChangeKind, PendingContactChange } from './pending-contact-changes.ts';
export { type ContactModule, createContactModule } from './room.ts';
export type { CodeRejection, CodeThrottled } from './verify-contact-code.ts';
