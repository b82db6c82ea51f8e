import type { ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language, TextKey } from '../../locales/index.ts';
import { type MailContext, type MailProps, mailViews } from '../../views/mail/index.ts';
import { type T, translator } from '../http/index.ts';
import { mailColours } from './mail-colours.ts';
import type { MailTemplate, MailValues } from './message.ts';
import { safeGreetingName } from './safe-greeting-name.ts';

/** The common parts of all mails. */
export interface MailLook {
  /** The public origin. */
  publicUrl: string;
  brandName: string;
  /** Mails load no images: a brand with its own logo does not get Foyer's sign either. */
  brandLogoUrl?: string | undefined;
  /** `#rrggbb` */
  brandAccent?: string | undefined;
  helpUrl?: string | undefined;
  /** The address for questions, if there is no help center. */
  supportAddress?: string | undefined;
}

export interface RenderedMail {
  subject: string;
  /** A whole document. */
  html: string;
  text: string;
}

/** The content of a mail. */
export type MailContent<Name extends MailTemplate = MailTemplate> = {
  [Template in Name]: { template: Template; to: string; lang: Language; values: MailValues[Template] };
}[Name];

/** The values as a view gets them: a name that is not plainly one is omitted. */
type ShownValues<Name extends MailTemplate> = Omit<MailValues[Name], 'givenName'> & { givenName?: string | undefined };

/** The compiler checks that templates, values and components match. */
const views: {
  [Name in MailTemplate]: {
    subject: TextKey;
    Mail: (props: MailProps<ShownValues<Name>>) => ReactElement;
  };
} = mailViews;

/** The names of all templates. */
export const mailTemplates = Object.keys(views) as MailTemplate[];

/** Characters that control a terminal, break a line of a header or change the direction of text. */
const steering = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
const oneLine = (text: string) => text.replace(steering, ' ').trim();

/** The inverse of React's escaping. */
const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" };
const unescaped = (markup: string) =>
  markup.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity);

/** The same values, each text on one line. */
function oneLineEach<Values extends object>(values: Values): Values {
  const copy = { ...values };
  for (const [name, value] of Object.entries(copy)) {
    if (typeof value === 'string') Reflect.set(copy, name, oneLine(value));
  }
  return copy;
}

/** The name of the change, which only the notice of a change has in its subject. */
const toChange = (values: MailValues[MailTemplate], t: T): string =>
  'change' in values ? t(`mail.securityNotice.changes.${values.change}`) : '';

/** Subject, HTML and plain text of a mail, in its language. All `values` may come from strangers. */
export function renderMail<Name extends MailTemplate>(mail: MailContent<Name>, look: MailLook): RenderedMail {
  const { publicUrl, brandName, brandLogoUrl, brandAccent, helpUrl, supportAddress } = look;
  const { subject: subjectKey, Mail: View } = views[mail.template];
  const t = translator(mail.lang);
  const subject = oneLine(t(subjectKey, { brand: brandName, what: toChange(mail.values, t) }));
  const values: ShownValues<Name> = {
    ...oneLineEach(mail.values),
    givenName: safeGreetingName(mail.values.givenName),
  };
  const common: Omit<MailContext, 'medium'> = {
    lang: mail.lang,
    t,
    brand: { name: brandName, sign: brandLogoUrl === undefined },
    to: oneLine(mail.to),
    links: {
      home: `${publicUrl}/`,
      forgotPassword: `${publicUrl}/forgot-password`,
      help: helpUrl,
      support: supportAddress,
    },
    colours: mailColours(brandAccent),
  };
  const markup = (medium: MailContext['medium']) =>
    renderToStaticMarkup(View({ ctx: { ...common, medium }, subject, values }));
  return { subject, html: `<!doctype html>${markup('html')}`, text: `${unescaped(markup('text')).trim()}\n` };
}
