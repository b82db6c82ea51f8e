/**
 * All texts in all languages, loaded once with the program. English is the reference: the type of a key is derived from
 * it, and a language that lacks one of its keys does not compile (`test/views/locales.test.ts` checks the rest:
 * placeholders, plural forms, nothing superfluous).
 */

import deCheckout from './de/checkout.json' with { type: 'json' };
import deCodes from './de/codes.json' with { type: 'json' };
import deCommon from './de/common.json' with { type: 'json' };
import deContact from './de/contact.json' with { type: 'json' };
import deDashboard from './de/dashboard.json' with { type: 'json' };
import deDevices from './de/devices.json' with { type: 'json' };
import deErrors from './de/errors.json' with { type: 'json' };
import deFederation from './de/federation.json' with { type: 'json' };
import deLeaving from './de/leaving.json' with { type: 'json' };
import deLegal from './de/legal.json' with { type: 'json' };
import deMail from './de/mail.json' with { type: 'json' };
import deMembership from './de/membership.json' with { type: 'json' };
import deMfa from './de/mfa.json' with { type: 'json' };
import deMfaSettings from './de/mfa-settings.json' with { type: 'json' };
import deNotifications from './de/notifications.json' with { type: 'json' };
import deOauth from './de/oauth.json' with { type: 'json' };
import dePasskeys from './de/passkeys.json' with { type: 'json' };
import dePassword from './de/password.json' with { type: 'json' };
import dePayment from './de/payment.json' with { type: 'json' };
import deSettings from './de/settings.json' with { type: 'json' };
import deSignIn from './de/sign-in.json' with { type: 'json' };
import deSignUp from './de/sign-up.json' with { type: 'json' };
import deSms from './de/sms.json' with { type: 'json' };
import deTerms from './de/terms.json' with { type: 'json' };
import enCheckout from './en/checkout.json' with { type: 'json' };
import enCodes from './en/codes.json' with { type: 'json' };
import enCommon from './en/common.json' with { type: 'json' };
import enContact from './en/contact.json' with { type: 'json' };
import enDashboard from './en/dashboard.json' with { type: 'json' };
import enDevices from './en/devices.json' with { type: 'json' };
import enErrors from './en/errors.json' with { type: 'json' };
import enFederation from './en/federation.json' with { type: 'json' };
import enLeaving from './en/leaving.json' with { type: 'json' };
import enLegal from './en/legal.json' with { type: 'json' };
import enMail from './en/mail.json' with { type: 'json' };
import enMembership from './en/membership.json' with { type: 'json' };
import enMfa from './en/mfa.json' with { type: 'json' };
import enMfaSettings from './en/mfa-settings.json' with { type: 'json' };
import enNotifications from './en/notifications.json' with { type: 'json' };
import enOauth from './en/oauth.json' with { type: 'json' };
import enPasskeys from './en/passkeys.json' with { type: 'json' };
import enPassword from './en/password.json' with { type: 'json' };
import enPayment from './en/payment.json' with { type: 'json' };
import enSettings from './en/settings.json' with { type: 'json' };
import enSignIn from './en/sign-in.json' with { type: 'json' };
import enSignUp from './en/sign-up.json' with { type: 'json' };
import enSms from './en/sms.json' with { type: 'json' };
import enTerms from './en/terms.json' with { type: 'json' };
import frCheckout from './fr/checkout.json' with { type: 'json' };
import frCodes from './fr/codes.json' with { type: 'json' };
import frCommon from './fr/common.json' with { type: 'json' };
import frContact from './fr/contact.json' with { type: 'json' };
import frDashboard from './fr/dashboard.json' with { type: 'json' };
import frDevices from './fr/devices.json' with { type: 'json' };
import frErrors from './fr/errors.json' with { type: 'json' };
import frFederation from './fr/federation.json' with { type: 'json' };
import frLeaving from './fr/leaving.json' with { type: 'json' };
import frLegal from './fr/legal.json' with { type: 'json' };
import frMail from './fr/mail.json' with { type: 'json' };
import frMembership from './fr/membership.json' with { type: 'json' };
import frMfa from './fr/mfa.json' with { type: 'json' };
import frMfaSettings from './fr/mfa-settings.json' with { type: 'json' };
import frNotifications from './fr/notifications.json' with { type: 'json' };
import frOauth from './fr/oauth.json' with { type: 'json' };
import frPasskeys from './fr/passkeys.json' with { type: 'json' };
import frPassword from './fr/password.json' with { type: 'json' };
import frPayment from './fr/payment.json' with { type: 'json' };
import frSettings from './fr/settings.json' with { type: 'json' };
import frSignIn from './fr/sign-in.json' with { type: 'json' };
import frSignUp from './fr/sign-up.json' with { type: 'json' };
import frSms from './fr/sms.json' with { type: 'json' };
import frTerms from './fr/terms.json' with { type: 'json' };
import nlCheckout from './nl/checkout.json' with { type: 'json' };
import nlCodes from './nl/codes.json' with { type: 'json' };
import nlCommon from './nl/common.json' with { type: 'json' };
import nlContact from './nl/contact.json' with { type: 'json' };
import nlDashboard from './nl/dashboard.json' with { type: 'json' };
import nlDevices from './nl/devices.json' with { type: 'json' };
import nlErrors from './nl/errors.json' with { type: 'json' };
import nlFederation from './nl/federation.json' with { type: 'json' };
import nlLeaving from './nl/leaving.json' with { type: 'json' };
import nlLegal from './nl/legal.json' with { type: 'json' };
import nlMail from './nl/mail.json' with { type: 'json' };
import nlMembership from './nl/membership.json' with { type: 'json' };
import nlMfa from './nl/mfa.json' with { type: 'json' };
import nlMfaSettings from './nl/mfa-settings.json' with { type: 'json' };
import nlNotifications from './nl/notifications.json' with { type: 'json' };
import nlOauth from './nl/oauth.json' with { type: 'json' };
import nlPasskeys from './nl/passkeys.json' with { type: 'json' };
import nlPassword from './nl/password.json' with { type: 'json' };
import nlPayment from './nl/payment.json' with { type: 'json' };
import nlSettings from './nl/settings.json' with { type: 'json' };
import nlSignIn from './nl/sign-in.json' with { type: 'json' };
import nlSignUp from './nl/sign-up.json' with { type: 'json' };
import nlSms from './nl/sms.json' with { type: 'json' };
import nlTerms from './nl/terms.json' with { type: 'json' };

export const languages = ['en', 'de', 'fr', 'nl'] as const;
export type Language = (typeof languages)[number];

/** Each language by its own name, as a member looks for it. */
export const languageNames: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  nl: 'Nederlands',
};

const en = {
  checkout: enCheckout,
  codes: enCodes,
  common: enCommon,
  contact: enContact,
  dashboard: enDashboard,
  devices: enDevices,
  errors: enErrors,
  notifications: enNotifications,
  oauth: enOauth,
  signIn: enSignIn,
  terms: enTerms,
  signUp: enSignUp,
  passkeys: enPasskeys,
  password: enPassword,
  payment: enPayment,
  mail: enMail,
  membership: enMembership,
  sms: enSms,
  mfa: enMfa,
  mfaSettings: enMfaSettings,
  federation: enFederation,
  leaving: enLeaving,
  legal: enLegal,
  settings: enSettings,
};
type Texts = typeof en;

export const texts: Record<Language, Texts> = {
  en,
  de: {
    checkout: deCheckout,
    codes: deCodes,
    common: deCommon,
    contact: deContact,
    dashboard: deDashboard,
    devices: deDevices,
    errors: deErrors,
    notifications: deNotifications,
    oauth: deOauth,
    signIn: deSignIn,
    terms: deTerms,
    signUp: deSignUp,
    passkeys: dePasskeys,
    password: dePassword,
    payment: dePayment,
    mail: deMail,
    membership: deMembership,
    sms: deSms,
    mfa: deMfa,
    mfaSettings: deMfaSettings,
    federation: deFederation,
    leaving: deLeaving,
    legal: deLegal,
    settings: deSettings,
  },
  fr: {
    checkout: frCheckout,
    codes: frCodes,
    common: frCommon,
    contact: frContact,
    dashboard: frDashboard,
    devices: frDevices,
    errors: frErrors,
    notifications: frNotifications,
    oauth: frOauth,
    signIn: frSignIn,
    terms: frTerms,
    signUp: frSignUp,
    passkeys: frPasskeys,
    password: frPassword,
    payment: frPayment,
    mail: frMail,
    membership: frMembership,
    sms: frSms,
    mfa: frMfa,
    mfaSettings: frMfaSettings,
    federation: frFederation,
    leaving: frLeaving,
    legal: frLegal,
    settings: frSettings,
  },
  nl: {
    checkout: nlCheckout,
    codes: nlCodes,
    common: nlCommon,
    contact: nlContact,
    dashboard: nlDashboard,
    devices: nlDevices,
    errors: nlErrors,
    notifications: nlNotifications,
    oauth: nlOauth,
    signIn: nlSignIn,
    terms: nlTerms,
    signUp: nlSignUp,
    passkeys: nlPasskeys,
    password: nlPassword,
    payment: nlPayment,
    mail: nlMail,
    membership: nlMembership,
    sms: nlSms,
    mfa: nlMfa,
    mfaSettings: nlMfaSettings,
    federation: nlFederation,
    leaving: nlLeaving,
    legal: nlLegal,
    settings: nlSettings,
  },
};

/** `tooMany_one` and `tooMany_other` are the plural forms of one key, `tooMany` (i18next chooses by `count`). */
type WithoutPlural<K extends string> = K extends `${infer Base}_${'one' | 'many' | 'other'}` ? Base : K;
type Leaves<Node, Prefix extends string> = {
  [K in keyof Node & string]: Node[K] extends string
    ? `${Prefix}${WithoutPlural<K>}`
    : Leaves<Node[K], `${Prefix}${K}.`>;
}[keyof Node & string];

/** The keys of a tree of texts. */
export type KeyPath<Tree> = Leaves<Tree, ''>;

/** Every text's key, for example `signIn.errors.incorrect`. */
export type TextKey = KeyPath<Texts>;

/** The texts of one language. `values` fill the text's `{{placeholders}}`; `count` chooses the plural form. */
export type Translate<Key extends string> = (key: Key, values?: Record<string, string | number>) => string;
export type T = Translate<TextKey>;
