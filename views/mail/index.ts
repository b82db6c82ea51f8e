import type { ReactElement } from 'react';
import { accountMails } from './account-mails.ts';
import type { MailDefinition, MailDocument } from './definition.ts';
import { mailDocument } from './document.tsx';
import { membershipMails } from './membership-mails.ts';
import { planEndMails } from './plan-end-mails.ts';
import { refundMails } from './refund-mails.ts';
import { mailText } from './text.ts';

export type { SecurityChange } from './account-mails.ts';
export { coloured, type MailColours } from './colours.ts';
export type { MailContext, MailDefinition, MailDocument, MailLink, MailText } from './definition.ts';

const templates = { ...accountMails, ...membershipMails, ...planEndMails, ...refundMails };
export type MailTemplate = keyof typeof templates;
/** The values of each mail, without the name of its recipient. */
export type MailOwnValues = { [Name in MailTemplate]: (typeof templates)[Name]['sample'] };

/** The product's own mails. A new one needs one entry in these definitions, and its texts. */
export const mails: { readonly [Name in MailTemplate]: MailDefinition<MailOwnValues[Name]> } = templates;

/** The values of each mail. `givenName`: the recipient's, for the greeting. */
export type MailValues = { [Name in MailTemplate]: MailOwnValues[Name] & { givenName: string } };
export type MembershipMailValues = Pick<
  MailValues,
  keyof typeof membershipMails | keyof typeof planEndMails | keyof typeof refundMails
>;

/** The two forms of a mail. */
export const mailForms: { html: (mail: MailDocument) => ReactElement; text: (mail: MailDocument) => string } = {
  html: mailDocument,
  text: mailText,
};
