/** The shape of a mail as data, and of the document that its values make of it. */
import type { Language, T, TextKey } from '../../locales/index.ts';
import type { MailColours } from './colours.ts';

type NameIn<Key, Part extends string> = Key extends `mail.${infer Name}.${Part}` ? Name : never;
/** The names of the mails that have this text, `mail.<name>.<part>`. */
export type MailsWith<Part extends string> = NameIn<TextKey, Part>;

/** The language, the brand and the addresses of one mail. */
export interface MailContext {
  lang: Language;
  t: T;
  brand: string;
  /** Absolute. */
  links: { home: string; forgotPassword: string };
}

/** Made of the values of one mail. Without a result the part is omitted. */
type Made<Values, Result = string | undefined> = (values: Values, context: MailContext) => Result;
/** A text of its own, or a key: that text gets the name of the brand. */
export type MailText<Values> = TextKey | Made<Values>;

export interface MailLink<Values> {
  label: TextKey;
  href: Made<Values>;
}

export interface MailFact<Values> {
  label: TextKey | ((values: Values) => TextKey);
  value: Made<Values>;
  /** An amount is beside its label, as on a bill, a total in bold. All other values are below it. */
  as?: 'amount' | 'total' | undefined;
}

/** The parts in the order of the mail, below the title, the greeting and the lead. */
interface MailParts<Values> {
  code?: Made<Values>;
  facts?: readonly MailFact<Values>[];
  advice?: MailText<Values>;
  button?: MailLink<Values>;
  /** Other texts for some values. */
  variant?: { name: MailsWith<'title'> & MailsWith<'lead'>; applies(values: Values): boolean };
  notes?: readonly { text?: MailText<Values>; link?: MailLink<Values>; quiet?: boolean }[];
  /** Made-up values, for previews and tests. */
  sample: Values;
}

/**
 * One mail. Its name is that of its texts: subject, preheader (shown after the subject in lists of mails), title, lead,
 * and the reason for the mail (`why`). A title of its own is also in the subject.
 */
export type MailDefinition<Values> = MailParts<Values> &
  ({ name: MailsWith<'title'>; title?: undefined } | { name: MailsWith<'why'>; title: Made<Values, string> }) &
  ({ name: MailsWith<'lead'>; lead?: undefined } | { name: MailsWith<'why'>; lead: MailText<Values> });

export const defineMail = <Values>(definition: MailDefinition<Values>): MailDefinition<Values> => definition;

export interface Link {
  label: string;
  href: string;
}

export interface Paragraph {
  text?: string | undefined;
  link?: Link | undefined;
  quiet?: boolean | undefined;
}

export interface Fact extends Pick<MailFact<never>, 'as'> {
  label: string;
  value: string;
}

/** A mail with its values, in its language. */
export interface MailDocument extends Pick<MailContext, 'lang' | 't'> {
  template: string;
  colours: MailColours;
  /** `sign`: Foyer's own is beside the name. A brand with a logo only has its name, because mails load no images. */
  brand: { name: string; sign: boolean };
  home: string;
  /** The address for questions: the help center, else an e-mail address. */
  questions: (Link & { address: string }) | undefined;
  subject: string;
  preheader: string;
  title: string;
  greeting: string;
  lead: string | undefined;
  code: string | undefined;
  facts: readonly Fact[];
  advice: string | undefined;
  button: Link | undefined;
  notes: readonly Paragraph[];
  why: string;
  sentTo: string;
}
