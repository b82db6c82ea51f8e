import { PasskeyAddPage } from '../../../views/account/passkey-pages.tsx';
import { deviceName } from '../../messages/index.ts';
import {
  countPasskeys,
  creationOptions,
  maxPasskeys,
  type PasskeyDeps,
  registerPasskey,
} from '../../passkeys/index.ts';
import { endOthersField, endOthersIfTicked, endOthersTicked } from '../devices/end-others.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';
import { findNameFault, initialPasskeyName } from './passkey-name.ts';
import { passkeysPageAfter } from './passkeys-handlers.ts';

/** The browser creates a passkey, and this page stores it. */
export const addPasskeyPage = (passkeys: PasskeyDeps) =>
  settingsPage({
    path: '/settings/passkeys/add',
    title: 'passkeys.add.title',
    guard: requireRecentAuth,
    Page: PasskeyAddPage,
    // The list explains the limit.
    open: async ({ user }, { database }) =>
      (await countPasskeys(database.db, user.id)) >= maxPasskeys ? '/settings/passkeys' : {},
    toProps: async (r) => ({
      name: initialPasskeyName(deviceName(r.t, r.req.get('user-agent'))),
      // New ones each time: a challenge is answered once.
      options: await creationOptions(passkeys, r),
    }),
    draft: {
      fields: { name: 60, [endOthersField]: 1 },
      toState: ({ name = '', [endOthersField]: endOthers }) => ({ name, endOthers: endOthers === '1' }),
      hasForm: () => true,
    },
    async act(r, deps) {
      const { t } = r;
      const name = r.field('name').trim();
      const credential = r.field('credential');
      const endOthers = endOthersTicked(r);
      const error = findNameFault(t, name);
      if (error !== undefined) return { status: 400, name, endOthers, error };
      const registration = await registerPasskey(passkeys, r, { credential, name, from: r.origin });
      if (registration.kind === 'added') {
        await endOthersIfTicked(r, deps);
        return passkeysPageAfter('added');
      }
      const { why } = registration;
      const problem =
        why === 'too-many'
          ? t('passkeys.full', { most: maxPasskeys })
          : t(`passkeys.errors.${why === 'already-in-use' ? 'alreadyInUse' : why}`);
      const status = why === 'already-in-use' || why === 'too-many' ? 409 : 400;
      return { status, name, endOthers, problem };
    },
  });
