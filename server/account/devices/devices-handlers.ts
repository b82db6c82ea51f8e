import { createElement } from 'react';
import { DeviceActPage } from '../../../views/account/device-action-page.tsx';
import { DeviceTables, type Paged } from '../../../views/account/device-table.tsx';
import { type PageHandler, type RequestContext, resolveLanguage, translator } from '../../http/index.ts';
import { deviceName, notifySecurityChange } from '../../messages/index.ts';
import { forgetRememberedDevices, listRememberedDevices } from '../../mfa/index.ts';
import { type ListedSession, maxSessions } from '../../sessions/index.ts';
import { type SessionIdHash, toSessionIdHash } from '../../shared/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { accountHomeAfter } from '../notices.ts';
import { type PageRoute, settingsPage } from '../settings-page.ts';
import { endOthers } from './end-others.ts';

const signOutPath = '/settings/devices/sign-out';
const othersPath = '/settings/devices/sign-out-others';
const forgetPath = '/settings/devices/forget';

const listRemembered = ({ user }: UserRequest, { database, now }: AccountDeps) =>
  listRememberedDevices(database.db, user, now());

/** Rows of a list on one page. */
const rowsAPage = 20;
/** This close to the limit the page mentions it. */
const nearLimit = maxSessions - 10;

type PageName = 'page' | 'remembered';

const pageNumber = (r: RequestContext, name: PageName) => {
  const requested = r.query(name) ?? '';
  return /^[1-9]\d{0,5}$/.test(requested) ? Number(requested) : 1;
};

/** The rows of a list on its page; the other list keeps its page. */
function paged<Row>(r: RequestContext, name: PageName, all: readonly Row[]): Paged<Row> {
  const pages = Math.max(1, Math.ceil(all.length / rowsAPage));
  const page = Math.min(pages, pageNumber(r, name));
  const [other, otherPage]: [PageName, number] =
    name === 'page' ? ['remembered', pageNumber(r, 'remembered')] : ['page', pageNumber(r, 'page')];
  return {
    rows: all.slice((page - 1) * rowsAPage, page * rowsAPage),
    page,
    pages,
    toHref(number) {
      const search = new URLSearchParams({
        tab: 'device-data',
        ...(number > 1 && { [name]: String(number) }),
        ...(otherPage > 1 && { [other]: String(otherPage) }),
      });
      return `/settings?${search}#${name === 'page' ? 'devices' : 'remembered-devices'}`;
    },
  };
}

/** The same page with its rows rendered. */
const drawn = <Row, View>(page: Paged<Row>, draw: (row: Row) => View): Paged<View> => ({
  ...page,
  rows: page.rows.map(draw),
});

/** The specification's device data: sessions, and devices on which the second factor is skipped. */
export const deviceCard: HomeCardSource = async (r, deps) => {
  const { user, session } = r;
  const [list, devices, thisOne, ended] = await Promise.all([
    deps.sessions.list(user.id),
    listRemembered(r, deps),
    deps.mfa.remembered.findRememberedDevice(r.req, user),
    deps.sessions.endedByLimit(user.id),
  ]);
  const nowMs = deps.now();
  const isThis = ({ idHash }: { idHash: SessionIdHash }) => idHash === session.idHash;
  const sessions = paged(
    r,
    'page',
    list.toSorted((a, b) => Number(isThis(b)) - Number(isThis(a))),
  );
  const remembered = paged(r, 'remembered', devices);
  return (ctx) =>
    createElement(DeviceTables, {
      ctx,
      nowMs,
      ...((ended > 0 || list.length >= nearLimit) && { limit: { max: maxSessions, ended } }),
      sessions: drawn(sessions, ({ idHash, userAgent, ...facts }) => ({
        ...facts,
        id: idHash,
        name: deviceName(ctx.t, userAgent),
        isThis: isThis({ idHash }),
        href: `${signOutPath}?${new URLSearchParams({ session: idHash })}`,
      })),
      remembered: drawn(remembered, ({ id, userAgent, ip, createdAt, lastUsedAt, expiresAt }) => ({
        id,
        ip,
        createdAtMs: createdAt,
        lastUsedAtMs: lastUsedAt,
        expiresAtMs: expiresAt,
        name: deviceName(ctx.t, userAgent),
        isThis: id === thisOne?.id,
        href: `${forgetPath}?${new URLSearchParams({ device: id })}`,
      })),
      ...((list.length > 1 || devices.some(({ id }) => id !== thisOne?.id)) && { othersHref: othersPath }),
    });
};

/** A change that a mail reports, and the user agent of the affected device. */
interface DeviceChange {
  change: 'session-ended' | 'device-forgotten';
  userAgent: string | undefined;
}

async function notifyDeviceChange(
  { user, origin }: UserRequest,
  deps: AccountDeps,
  { change, userAgent }: DeviceChange,
): Promise<void> {
  const t = translator(resolveLanguage(origin.lang, user.locale ?? undefined));
  const detail = deviceName(t, userAgent);
  await deps.database.transaction((trx) => notifySecurityChange(trx, deps, { user, change, from: origin, detail }));
  deps.outbox.wake();
}

type SessionRequest = UserRequest & { readonly named: ListedSession };

/** For the open session that the address names. This browser's own one ends like on every page: with its cookies. */
const requireNamedSession = (handler: PageHandler<AccountDeps, SessionRequest>) =>
  requireUser<AccountDeps>(async (r, deps) => {
    const idHash = toSessionIdHash(r.query('session') ?? '');
    if (idHash === r.session.idHash) return r.redirect('/logout');
    const named = await deps.sessions.find(r.user.id, idHash);
    if (!named) return r.redirect(accountHomeAfter('session-gone'));
    await handler(Object.assign(r, { named }), deps);
  });

const signOutPage = settingsPage({
  path: signOutPath,
  withQuery: true,
  title: 'devices.ending.title',
  guard: requireNamedSession,
  Page: DeviceActPage,
  toProps: ({ t, named }) => ({ act: 'ending' as const, name: deviceName(t, named.userAgent) }),
  async act(r, deps) {
    const { idHash, userAgent } = r.named;
    const ended = await deps.sessions.endSession(r.user.id, idHash);
    // Two clicks are one change, and one mail.
    if (ended) await notifyDeviceChange(r, deps, { change: 'session-ended', userAgent });
    return accountHomeAfter(ended ? 'session-ended' : 'session-gone');
  },
});

/** Ends every other session, and forgets remembered devices, one of which may be a thief's. */
const signOutOthersPage = settingsPage({
  path: othersPath,
  title: 'devices.endingOthers.title',
  guard: requireUser,
  Page: DeviceActPage,
  toProps: () => ({ act: 'endingOthers' as const }),
  async act(r, deps) {
    await endOthers(r, deps);
    return accountHomeAfter('sessions-ended');
  },
});

async function findNamedDevice(r: UserRequest, deps: AccountDeps) {
  const expected = r.query('device');
  return (await listRemembered(r, deps)).find(({ id }) => id === expected);
}

const forgetPage = settingsPage({
  path: forgetPath,
  withQuery: true,
  title: 'devices.forgetting.title',
  guard: requireUser,
  Page: DeviceActPage,
  async toProps(r, deps) {
    const device = await findNamedDevice(r, deps);
    return device
      ? { act: 'forgetting' as const, name: deviceName(r.t, device.userAgent) }
      : accountHomeAfter('device-forgotten');
  },
  async act(r, deps) {
    const device = await findNamedDevice(r, deps);
    if (device && (await forgetRememberedDevices(deps.database.db, r.user.id, device.id)) > 0) {
      await notifyDeviceChange(r, deps, { change: 'device-forgotten', userAgent: device.userAgent });
    }
    return accountHomeAfter('device-forgotten');
  },
});

/**
 * Every session of the user may sign devices out, however old its authentication is: it gives no access, and a user who
 * sees a stranger there must not have to look for the password first.
 */
export const devicePages: readonly PageRoute[] = [signOutPage, signOutOthersPage, forgetPage];
