import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../../locales/index.ts';
import {
  type MailContext,
  type MailDefinition,
  type MailDocument,
  type MailLink,
  type MailOwnValues,
  type MailTemplate,
  type MailText,
  mailForms,
  mails,
} from '../../views/mail/index.ts';
import { translator } from '../http/index.ts';
import { keysIn } from '../shared/index.ts';
import type { RenderedMail } from './carrier.ts';
import { mailColours } from './mail-colours.ts';
import type { Mail, MailContent } from './message.ts';
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

/** The names of all templates. */
export const mailTemplates = keysIn(mails);

/** A mail with sample values. */
export function sampleMail<Name extends MailTemplate>(template: Name, lang: Language): Mail<Name> {
  const values = { ...mails[template].sample, givenName: 'Vera' };
  return { channel: 'mail', to: 'vera@example.com', template, lang, values } as Mail<Name>;
}

/** Characters that control a terminal, break a line of a header or change the direction of text. */
const steering = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
const oneLine = (text: string) => text.replace(steering, ' ').trim();

/** The same values, each text on one line. */
function oneLineEach<Values extends object>(values: Values): Values {
  const copy = { ...values };
  for (const [name, value] of Object.entries(copy)) {
    if (typeof value === 'string') Reflect.set(copy, name, oneLine(value));
  }
  return copy;
}

/** The address for questions: the help center, else an e-mail address. */
function toQuestions({ helpUrl, supportAddress }: MailLook, helpCentre: string): MailDocument['questions'] {
  if (helpUrl !== undefined) return { address: helpUrl, href: helpUrl, label: helpCentre };
  if (supportAddress === undefined) return undefined;
  return { address: supportAddress, href: `mailto:${supportAddress}`, label: supportAddress };
}

/** A mail with its texts and values in its language. */
function composeMail<Name extends MailTemplate>(mail: MailContent<Name>, look: MailLook): MailDocument {
  const { publicUrl, brandName: brand, brandLogoUrl, brandAccent } = look;
  const { template, lang } = mail;
  const definition: MailDefinition<MailOwnValues[Name]> = mails[template];
  const values: MailOwnValues[Name] = oneLineEach(mail.values);
  const t = translator(lang);
  const links = { home: `${publicUrl}/`, forgotPassword: `${publicUrl}/forgot-password` };
  const context: MailContext = { lang, t, brand, links };
  const write = (text: MailText<MailOwnValues[Name]> | undefined) =>
    typeof text === 'function' ? text(values, context) : text && t(text, { brand });
  const toLink = ({ label, href }: MailLink<MailOwnValues[Name]>) => {
    const address = href(values, context);
    return address === undefined ? undefined : { label: t(label, { brand }), href: address };
  };
  const { variant } = definition;
  const named = variant?.applies(values) ? { name: variant.name, title: undefined, lead: undefined } : definition;
  const title = named.title === undefined ? t(`mail.${named.name}.title`, { brand }) : named.title(values, context);
  const givenName = safeGreetingName(mail.values.givenName);
  const code = definition.code?.(values, context);
  return {
    template,
    lang,
    t,
    colours: mailColours(brandAccent),
    brand: { name: brand, sign: brandLogoUrl === undefined },
    home: links.home,
    questions: toQuestions(look, t('mail.helpCentre')),
    subject: oneLine(t(`mail.${named.name}.subject`, { brand, what: title, code: code ?? '' })),
    preheader: t(`mail.${named.name}.preheader`, { brand }),
    title,
    greeting: givenName === undefined ? t('mail.helloPlain') : t('mail.hello', { givenName }),
    lead: named.lead === undefined ? t(`mail.${named.name}.lead`, { brand }) : write(named.lead),
    code,
    facts: (definition.facts ?? []).flatMap(({ label, value, as }) => {
      const known = value(values, context);
      return known === undefined
        ? []
        : [{ label: t(typeof label === 'function' ? label(values) : label), value: known, as }];
    }),
    advice: write(definition.advice),
    button: definition.button && toLink(definition.button),
    notes: (definition.notes ?? [])
      .map(({ text, link, quiet }) => ({ text: write(text), link: link && toLink(link), quiet }))
      .filter(({ text, link }) => text !== undefined || link !== undefined),
    why: t(`mail.${named.name}.why`, { brand }),
    sentTo: t('mail.sentTo', { to: oneLine(mail.to) }),
  };
}

/** Outlook on Windows draws with 96 pixels per inch at every scale of the screen. React has no comments. */
const forOutlook =
  '<!--[if mso]><xml xmlns:o="urn:schemas-microsoft-com:office:office"><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->';

/** Subject, HTML and plain text of a mail, in its language. All `values` may come from strangers. */
export function renderMail<Name extends MailTemplate>(mail: MailContent<Name>, look: MailLook): RenderedMail {
  const document = composeMail(mail, look);
  return {
    subject: document.subject,
    html: `<!doctype html>${renderToStaticMarkup(mailForms.html(document)).replace('</head>', `${forOutlook}</head>`)}`,
    text: mailForms.text(document),
  };
}
