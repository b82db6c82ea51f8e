/**
 * The module of contact data: changing the e-mail address, which can be undone for 72 hours (`security.md`, rule 14),
 * and the phone number (E.164).
 * Owns both changes with their codes, the page for the undo, and their JSON calls. Does not own the pages under
 * /settings (settings/), the stored addresses and numbers (users/) nor the limits of text messages (messages/).
 */

export type { PhoneRefusal } from './change-phone.ts';
export type { ContactChangeKind, PendingContactChange } from './pending-contact-changes.ts';
export { type ContactModule, createContactModule } from './room.ts';
export type { CodeRejection, CodeThrottled } from './verify-contact-code.ts';
