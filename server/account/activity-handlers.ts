import type { TextKey } from '../../locales/index.ts';
import { ActivityPage, type ActivityView, activityPath } from '../../views/account/activity-page.tsx';
import { formatAmount } from '../../views/format.ts';
import { type ListedEvent, listMemberEvents } from '../audit/index.ts';
import { type SecurityChange, securityChanges } from '../messages/index.ts';
import { requireUser, type UserRequest } from '../sign-in/index.ts';
import type { AccountDeps } from './deps.ts';
import type { PageRoute } from './settings-page.ts';

const onAPage = 25;

/** Events with one text for each; those of changes have the text of their mail. */
const texts: Readonly<Record<string, TextKey>> = {
  'sign-in.completed': 'devices.activity.events.signedIn',
  'sign-out.completed': 'devices.activity.events.signedOut',
  'sign-in.refused': 'devices.activity.events.refused',
  'password.changed': 'devices.activity.events.password',
  'app.connected': 'devices.activity.events.connected',
  'account.created': 'devices.activity.events.created',
  'account.deletion-requested': 'devices.activity.events.deletionRequested',
  'account.deletion-cancelled': 'devices.activity.events.deletionCancelled',
  'membership.changed': 'devices.activity.events.membership',
  'gift.redeemed': 'devices.activity.events.gift',
  'payment.made': 'devices.activity.events.paid',
  'payment.refunded': 'devices.activity.events.refunded',
  'payment.disputed': 'devices.activity.events.disputed',
};

const actors: Readonly<Record<ListedEvent['actor']['kind'], TextKey | undefined>> = {
  member: undefined,
  visitor: undefined,
  client: 'devices.activity.by.client',
  operator: 'devices.activity.by.operator',
  stripe: 'devices.activity.by.stripe',
  system: 'devices.activity.by.system',
};

const isSecurityChange = (change: unknown): change is SecurityChange =>
  securityChanges.some((known) => known === change);

function toText({ type, details }: ListedEvent): TextKey {
  const { change } = details;
  if (isSecurityChange(change)) return `mail.securityNotice.changes.${change}`;
  return texts[type] ?? 'devices.activity.events.other';
}

function toValues({ lang }: UserRequest, { details }: ListedEvent): ActivityView['values'] {
  const { attempts, amountCents, currency } = details;
  if (typeof attempts === 'number') return { count: attempts };
  if (typeof amountCents === 'number' && typeof currency === 'string') {
    return { amount: formatAmount(lang, amountCents, { currency }) };
  }
  return undefined;
}

/** A place in the chain; anything else is the newest page. */
const readBefore = (typed: string | undefined): number | undefined =>
  typed !== undefined && /^[1-9]\d{0,14}$/.test(typed) ? Number(typed) : undefined;

async function show(r: UserRequest, { database }: AccountDeps) {
  const before = readBefore(r.query('before'));
  const found = await listMemberEvents(database.db, r.user.id, { before, limit: onAPage + 1 });
  // Events that wait for the sealer come first, and have no place in the chain yet.
  const visible = found.slice(0, onAPage);
  const last = visible.at(-1);
  const olderHref =
    visible.length < found.length && last && last.seq !== null
      ? `${activityPath}?${new URLSearchParams({ before: String(last.seq) })}`
      : undefined;
  const events = visible.map((event) => ({
    id: event.id,
    text: toText(event),
    values: toValues(r, event),
    by: actors[event.actor.kind],
    client: event.client,
    device: event.device,
    address: event.address,
    isRefused: event.type === 'sign-in.refused',
    atMs: event.at,
  }));
  const answer = { title: 'devices.activity.title', address: activityPath } as const;
  r.render(ActivityPage, { events, olderHref, isFirst: before === undefined }, answer);
}

/** The member's own events of the audit trail. */
export const activityPage: PageRoute = { path: activityPath, get: requireUser(show) };
