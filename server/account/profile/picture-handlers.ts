import type { TextKey } from '../../../locales/index.ts';
import { PicturePage } from '../../../views/account/picture-page.tsx';
import { consumeLimits, getPageUser, isUpload, rateLimits, readUpload } from '../../http/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import { cleanImage, setPicture, storeUploaded, toPageUser } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';
import { accountHomeAfter } from '../notices.ts';
import { settingsPage } from '../settings-page.ts';

export const picturePath = '/settings/picture';
/** Forms with a file: the body parsers leave them to their handlers. */
export const uploadPaths: ReadonlySet<string> = new Set([picturePath]);

/** With the rest of its form below the 1 MiB that nginx lets through by default. */
const maxBytes = 1_000_000;
const field = 'picture';

type UploadResult = { kind: 'stored' } | { kind: 'refused'; status: number; error: TextKey };
const refusal = (status: number, error: TextKey): UploadResult => ({ kind: 'refused', status, error });

/** The file is read when its sender is known and within the limit. */
async function upload(r: UserRequest, { database, kv, now }: AccountDeps, baseUrl: string): Promise<UploadResult> {
  const decision = await consumeLimits(kv, rateLimits.pictureUpload, { account: r.user.id });
  if (!decision.allowed) {
    r.setRetryAfter(decision.retryAfterMs);
    return refusal(429, 'settings.picture.tooMany');
  }
  const sent = await readUpload(r.req, { field, maxBytes });
  if (sent.kind === 'none') return refusal(400, 'settings.picture.missing');
  if (sent.kind === 'too-large') return refusal(413, 'settings.picture.tooLarge');
  const image = cleanImage(sent.bytes);
  if (image === undefined) return refusal(400, 'settings.picture.unsupported');
  await database.transaction((trx) => storeUploaded(trx, r.user.id, { image, baseUrl, nowMs: now() }));
  return { kind: 'stored' };
}

/** The picture is no credential, so any session suffices. */
export const picturePage = (baseUrl: string) =>
  settingsPage({
    path: picturePath,
    title: 'settings.picture.title',
    guard: requireUser,
    Page: PicturePage,
    toProps: ({ req, user }) => {
      const avatar = getPageUser(req)?.member ?? toPageUser({ ...user, imageName: '' }, undefined);
      return { avatar, field, hasPicture: avatar.pictureUrl !== undefined || user.picture !== null };
    },
    async act(r, deps) {
      const { database, now } = deps;
      if (!isUpload(r.req) && r.field('remove') === '1') {
        const none = { imageName: null, url: null, nowMs: now() };
        await database.transaction((trx) => setPicture(trx, r.user.id, none));
        r.log.info({ act: 'change-picture', outcome: 'removed' }, 'form');
        return accountHomeAfter('picture');
      }
      const result = await upload(r, deps, baseUrl);
      r.log.info({ act: 'change-picture', outcome: result.kind }, 'form');
      if (result.kind === 'stored') return accountHomeAfter('picture');
      return { status: result.status, error: r.t(result.error) };
    },
  });
