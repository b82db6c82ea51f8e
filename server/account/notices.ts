import type { TextKey } from '../../locales/index.ts';
import { membershipPath, type SettingsTab } from '../../views/account/tabs.ts';
import { AddressWithNotice } from '../http/index.ts';
import { isKeyIn } from '../shared/index.ts';

interface ActionNotice {
  text: TextKey;
  /** The panel of the home with the changed data. */
  tab: SettingsTab;
}

/** The home's notice about a completed action. */
const notices = {
  name: { text: 'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS', tab: 'sign-in' },
  picture: { text: 'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS', tab: 'sign-in' },
  profile: { text: 'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS', tab: 'user-data' },
  email: { text: 'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS', tab: 'sign-in' },
  phone: { text: 'settings.TAB_USER_DATA_MESSAGE_UPDATE_ATTRIBUTE_SUCCESS', tab: 'sign-in' },
  'phone-removed': { text: 'contact.phone.removed', tab: 'sign-in' },
  password: { text: 'settings.password.done', tab: 'sign-in' },
  'password-first': { text: 'settings.password.first.done', tab: 'sign-in' },
  'mfa-totp': { text: 'mfaSettings.done.totp', tab: 'mfa-data' },
  'mfa-sms': { text: 'mfaSettings.done.sms', tab: 'mfa-data' },
  'mfa-off': { text: 'mfaSettings.done.off', tab: 'mfa-data' },
  'factor-reset-stopped': { text: 'leaving.reset.stopped', tab: 'mfa-data' },
  'totp-replaced': { text: 'mfaSettings.done.replaced', tab: 'mfa-data' },
  'session-ended': { text: 'devices.done.ended', tab: 'device-data' },
  'session-gone': { text: 'devices.done.alreadySignedOut', tab: 'device-data' },
  'sessions-ended': { text: 'devices.done.endedOthers', tab: 'device-data' },
  'device-forgotten': { text: 'devices.done.forgotten', tab: 'device-data' },
} as const satisfies Record<string, ActionNotice>;

export type SettingsNotice = keyof typeof notices;

/** The home after an action, with its notice. */
export function accountHomeAfter(notice: SettingsNotice): AddressWithNotice {
  const { tab } = notices[notice];
  return new AddressWithNotice(`/settings${tab === 'sign-in' ? '' : `?tab=${tab}`}`, `settings:${notice}`);
}

/** The same for the page of the membership. */
const membershipNotices = {
  cancelled: 'membership.done.cancelled',
  'cancelled-on-notice': 'membership.done.cancelledOnNotice',
  ended: 'membership.done.ended',
  refunded: 'membership.done.refunded',
  withdrawn: 'membership.withdraw.done',
  'withdraw-noted': 'membership.withdraw.noted',
  gift: 'membership.done.gift',
  resumed: 'membership.done.resumed',
  pause: 'membership.done.pause',
  'pause-noted': 'membership.noted.pause',
  'cancel-noted': 'membership.noted.cancel',
  'resume-noted': 'membership.noted.resume',
  paid: 'membership.done.paid',
  card: 'membership.done.card',
  details: 'payment.details.saved',
  'details-noted': 'payment.details.noted',
  nothing: 'membership.done.nothing',
} as const satisfies Record<string, TextKey>;

type MembershipNotice = keyof typeof membershipNotices;

/** An amount that was given back. */
interface MoneyBack {
  cents: number;
  currency: string;
}

/** Notices that money comes back: they stay on the page, with the amount if it is known. */
const moneyBackTexts = {
  refunded: 'membership.done.refundedAmount',
  withdrawn: 'membership.withdraw.doneAmount',
  'withdraw-noted': 'membership.withdraw.notedAmount',
} as const satisfies Partial<Record<MembershipNotice, TextKey>>;

/** @param back of a notice that money comes back; without cents the notice names no amount */
export const membershipPageAfter = (notice: MembershipNotice, back?: MoneyBack): AddressWithNotice =>
  new AddressWithNotice(membershipPath, `membership:${notice}${back?.cents ? `/${back.cents}/${back.currency}` : ''}`);

/** The part of a notice's name that the page knows it by; undefined: it is for another page. */
const toOwnName = (name: string, page: string): string | undefined =>
  name.startsWith(`${page}:`) ? name.slice(page.length + 1) : undefined;

interface FoundMembershipNotice {
  text: TextKey;
  /** The amount in the text. */
  back?: MoneyBack;
  stays?: boolean;
}

export function findMembershipNotice(name: string): FoundMembershipNotice | undefined {
  const [own, cents, currency] = toOwnName(name, 'membership')?.split('/') ?? [];
  if (!isKeyIn(membershipNotices, own)) return undefined;
  if (!isKeyIn(moneyBackTexts, own)) return { text: membershipNotices[own] };
  if (currency === undefined) return { text: membershipNotices[own], stays: true };
  return { text: moneyBackTexts[own], back: { cents: Number(cents), currency }, stays: true };
}

export function findNotice(name: string): ActionNotice | undefined {
  const own = toOwnName(name, 'settings');
  return isKeyIn(notices, own) ? notices[own] : undefined;
}
