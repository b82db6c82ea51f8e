import { languages, type TextKey } from '../../locales/index.ts';
import { NotificationsPage } from '../../views/account/notifications-page.tsx';
import { HttpError, translator } from '../http/index.ts';
import { findNotification, markRead, notificationPage, readCursor, toCursor } from '../messages/index.ts';
import { requireUser, type UserRequest } from '../sign-in/index.ts';
import type { AccountDeps } from './deps.ts';
import { deletionCancelledCard, factorResetCard } from './factor-reset/factor-reset-card.ts';
import type { PageRoute } from './settings-page.ts';

const path = '/settings/notifications';
const onAPage = 50;

/** The titles of the notification that stands as a notice above the list, in all languages: it keeps that of its time. */
const titlesAbove = (key: TextKey): readonly string[] => languages.map((lang) => translator(lang)(key));
const resetTitles = titlesAbove('leaving.reset.title');
const cancelledTitles = titlesAbove('leaving.cancelled.title');

/** Reading the page marks nothing; each one has a button. */
async function show(r: UserRequest, deps: AccountDeps) {
  const cursor = r.query('after');
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const [rows, resetCard, cancelledCard] = await Promise.all([
    notificationPage(deps.database.db, r.user.id, { after, limit: onAPage + 1 }),
    factorResetCard(r, deps),
    deletionCancelledCard(r, deps),
  ]);
  const visible = rows.slice(0, onAPage);
  const last = visible.at(-1);
  // The newest of its kind is the one above; earlier ones are in the list.
  const newest = (titles: readonly string[]) => visible.find(({ title }) => titles.includes(title));
  const above = after ? [] : [resetCard && newest(resetTitles), cancelledCard && newest(cancelledTitles)];
  const olderHref =
    rows.length > onAPage && last ? `${path}?${new URLSearchParams({ after: toCursor(last) })}` : undefined;
  const listed = visible.filter((row) => !above.includes(row));
  const notifications = listed.map(({ id, title, description, security, status, createdAt }) => ({
    id,
    title,
    description,
    createdAtMs: createdAt,
    security: security === 1,
    unread: status === 'unread',
  }));
  r.render(
    NotificationsPage,
    {
      action: path,
      notifications,
      olderHref,
      nowMs: deps.now(),
      top: [resetCard, cancelledCard].filter((card) => card !== undefined),
    },
    { title: 'notifications.title', address: path },
  );
}

/** Marks one, or all. @throws {HttpError} notFound: it is not one of the user's */
async function mark(r: UserRequest, { database, now }: AccountDeps) {
  const id = r.field('all') === '1' ? undefined : r.field('notification');
  if (id !== undefined && !(await findNotification(database.db, r.user.id, id)))
    throw new HttpError('notFound', { detail: 'no such notification' });
  await markRead(database.db, r.user.id, { id, nowMs: now() });
  r.redirect(path);
}

/** The user's notifications inside the marketplace. */
export const notificationsPage: PageRoute = { path, get: requireUser(show), post: requireUser(mark) };
