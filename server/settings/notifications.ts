import type { Router } from 'express';
import { createElement } from 'react';
import { NotificationsPage } from '../../views/settings/notifications-page.tsx';
import { HttpError, methodNotAllowed, readFormField, readQueryParam } from '../http/index.ts';
import { findNotification, markRead, notificationPage, readCursor, toCursor } from '../messages/index.ts';
import type { AccountDeps } from './deps.ts';
import { deletionCancelledCard, factorResetCard } from './factor-reset-card.ts';
import { type MemberHandler, requireUser } from './require-recent-auth.ts';

const path = '/settings/notifications';
const onAPage = 50;

/** GET /settings/notifications: reading the page marks nothing; each one has a button. */
function show(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const cursor = readQueryParam(req, 'after');
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const [rows, ...drawn] = await Promise.all([
      notificationPage(deps.database.db, member.user.id, { after, limit: onAPage + 1 }),
      factorResetCard(deps, req, member),
      deletionCancelledCard(deps, req, member),
    ]);
    const visible = rows.slice(0, onAPage);
    const last = visible.at(-1);
    const olderHref =
      rows.length > onAPage && last ? `${path}?${new URLSearchParams({ after: toCursor(last) })}` : undefined;
    const notifications = visible.map(({ id, title, description, security, status, created_at }) => ({
      id,
      title,
      description,
      createdAtMs: created_at,
      security: security === 1,
      unread: status === 'unread',
    }));
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(NotificationsPage, {
          ctx,
          action: path,
          notifications,
          olderHref,
          top: drawn.filter((draw) => draw !== undefined).map((draw) => draw(ctx)),
        }),
      { title: (ctx) => ctx.t('notifications.title'), address: path },
    );
  };
}

/** POST /settings/notifications: marks one, or all. @throws {HttpError} notFound: it is not one of the user's */
function mark({ database, now }: AccountDeps): MemberHandler {
  return async (req, res, { user }) => {
    const id = readFormField(req, 'all') === '1' ? undefined : readFormField(req, 'notification');
    if (id !== undefined && !(await findNotification(database.db, user.id, id)))
      throw new HttpError('notFound', { detail: 'no such notification' });
    await markRead(database.db, user.id, { id, nowMs: now() });
    res.redirect(303, path);
  };
}

/** The user's notifications inside the marketplace. */
export function notificationRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(path)
    .get(requireUser(deps, show(deps)))
    .post(requireUser(deps, mark(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}
