import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { DeviceActPage, type DeviceActPageProps } from '../../views/settings/device-action-page.tsx';
import { DeviceTables, type Paged } from '../../views/settings/device-table.tsx';
import { methodNotAllowed, readQueryParam, resolveLanguage, translator } from '../http/index.ts';
import { deviceName, notifySecurityChange } from '../messages/index.ts';
import { forgetRememberedDevices, listRememberedDevices } from '../mfa/index.ts';
import { getRequestOrigin, maxSessions } from '../sessions/index.ts';
import { type SessionIdHash, toSessionIdHash } from '../shared/index.ts';
import type { AccountDeps } from './deps.ts';
import { endOthers } from './end-others.ts';
import type { HomeCardSource } from './home-cards.ts';
import { accountHomeUrl } from './notices.ts';
import { type MemberHandler, requireUser, type SignedInUser } from './require-recent-auth.ts';

const signOutPath = '/settings/devices/sign-out';
const othersPath = '/settings/devices/sign-out-others';
const forgetPath = '/settings/devices/forget';

const listRemembered = ({ database, now }: AccountDeps, { user }: SignedInUser) =>
  listRememberedDevices(database.db, user, now());

/** Rows of a list on one page. */
const rowsAPage = 20;
/** This close to the limit the page mentions it. */
const nearLimit = maxSessions - 10;

type PageName = 'page' | 'remembered';

const pageNumber = (req: Request, name: PageName) => {
  const requested = readQueryParam(req, name) ?? '';
  return /^[1-9]\d{0,5}$/.test(requested) ? Number(requested) : 1;
};

/** The rows of a list on its page; the other list keeps its page. */
function paged<Row>(req: Request, name: PageName, all: readonly Row[]): Paged<Row> {
  const pages = Math.max(1, Math.ceil(all.length / rowsAPage));
  const page = Math.min(pages, pageNumber(req, name));
  const [other, otherPage]: [PageName, number] =
    name === 'page' ? ['remembered', pageNumber(req, 'remembered')] : ['page', pageNumber(req, 'page')];
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
export const deviceCard: HomeCardSource = async (deps, req, member) => {
  const { user, session } = member;
  const [list, devices, thisOne, ended] = await Promise.all([
    deps.sessions.list(user.id),
    listRemembered(deps, member),
    deps.mfa.remembered.findRememberedDevice(req, user),
    deps.sessions.endedByLimit(user.id),
  ]);
  const nowMs = deps.now();
  const isThis = ({ idHash }: { idHash: SessionIdHash }) => idHash === session.idHash;
  const sessions = paged(
    req,
    'page',
    list.toSorted((a, b) => Number(isThis(b)) - Number(isThis(a))),
  );
  const remembered = paged(req, 'remembered', devices);
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

function renderConfirm(
  { pages }: AccountDeps,
  req: Request,
  res: Response,
  act: DeviceActPageProps['act'],
  userAgent?: string,
): void {
  const action = req.originalUrl;
  pages.send(
    req,
    res,
    200,
    (ctx) => createElement(DeviceActPage, { ctx, action, act, name: deviceName(ctx.t, userAgent) }),
    { title: (ctx) => ctx.t(`devices.${act}.title`), address: action },
  );
}

type DeviceAction = 'session-ended' | 'device-forgotten';

/** @param userAgent of the affected device */
async function notifyDeviceChange(
  deps: AccountDeps,
  req: Request,
  { user }: SignedInUser,
  change: DeviceAction,
  userAgent?: string,
): Promise<void> {
  const origin = getRequestOrigin(req);
  const t = translator(resolveLanguage(origin.lang, user.locale ?? undefined));
  const detail = deviceName(t, userAgent);
  await deps.database.transaction((trx) => notifySecurityChange(trx, deps, { user, change, from: origin, detail }));
  deps.outbox.wake();
}

/** The session in the address, if it is the user's and open. Undefined: it has ended, or never existed. */
const named = ({ sessions }: AccountDeps, req: Request, { user }: SignedInUser) =>
  sessions.find(user.id, toSessionIdHash(readQueryParam(req, 'session') ?? ''));

/** This browser's own session ends like on every page: with its cookies. */
function signOutPage(
  deps: AccountDeps,
  act: (...args: [...Parameters<MemberHandler>, NonNullable<Awaited<ReturnType<typeof named>>>]) => unknown,
): MemberHandler {
  return async (req, res, member) => {
    if (readQueryParam(req, 'session') === member.session.idHash) return res.redirect(303, '/logout');
    const session = await named(deps, req, member);
    if (!session) return res.redirect(303, accountHomeUrl('session-gone'));
    await act(req, res, member, session);
  };
}

const signOut = (deps: AccountDeps): MemberHandler =>
  signOutPage(deps, async (req, res, member, { idHash, userAgent }) => {
    const ended = await deps.sessions.endSession(member.user.id, idHash);
    // Two clicks are one change, and one mail.
    if (ended) await notifyDeviceChange(deps, req, member, 'session-ended', userAgent);
    res.redirect(303, accountHomeUrl(ended ? 'session-ended' : 'session-gone'));
  });

/**
 * POST /settings/devices/sign-out-others: ends every other session, and forgets remembered devices, one of which may be
 * a thief's.
 */
function signOutOthers(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    await endOthers(deps, req, member);
    res.redirect(303, accountHomeUrl('sessions-ended'));
  };
}

const rememberedNamed = async (deps: AccountDeps, req: Request, member: SignedInUser) => {
  const expected = readQueryParam(req, 'device');
  return (await listRemembered(deps, member)).find(({ id }) => id === expected);
};

const askToForget =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const device = await rememberedNamed(deps, req, member);
    if (!device) return res.redirect(303, accountHomeUrl('device-forgotten'));
    renderConfirm(deps, req, res, 'forgetting', device.userAgent);
  };

const forget =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, member) => {
    const device = await rememberedNamed(deps, req, member);
    if (device && (await forgetRememberedDevices(deps.database.db, member.user.id, device.id)) > 0) {
      await notifyDeviceChange(deps, req, member, 'device-forgotten', device.userAgent);
    }
    res.redirect(303, accountHomeUrl('device-forgotten'));
  };

/**
 * Every session of the user may sign devices out, however old its authentication is: it gives no access, and a user who
 * sees a stranger there must not have to look for the password first.
 */
export function deviceRoutes(router: Router, deps: AccountDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router
    .route(signOutPath)
    .get(
      requireUser(
        deps,
        signOutPage(deps, (req, res, _member, { userAgent }) => renderConfirm(deps, req, res, 'ending', userAgent)),
      ),
    )
    .post(requireUser(deps, signOut(deps)))
    .all(only);
  router
    .route(othersPath)
    .get(requireUser(deps, (req, res) => renderConfirm(deps, req, res, 'endingOthers')))
    .post(requireUser(deps, signOutOthers(deps)))
    .all(only);
  router
    .route(forgetPath)
    .get(requireUser(deps, askToForget(deps)))
    .post(requireUser(deps, forget(deps)))
    .all(only);
}
