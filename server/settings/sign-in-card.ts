import { createElement } from 'react';
import { SignInCard } from '../../views/settings/sign-in-card.tsx';
import { factorsOf } from '../mfa/index.ts';
import { countPasskeys } from '../passkeys/index.ts';
import type { CardSource } from './cards.ts';
import { codesPath } from './mfa-paths.ts';

/** The Sign-in card: passkeys, the password, and the recovery codes that are left. */
export const signInCard: CardSource = async ({ database, passkeys }, _req, { user }) => {
  const [count, factors] = await Promise.all([countPasskeys(database.db, user.id), factorsOf(database, user)]);
  return (ctx) =>
    createElement(SignInCard, {
      ctx,
      hasPassword: user.passwordHash !== null,
      // Where there are none any more, as the address has changed, the old ones can still be removed.
      ...((passkeys || count > 0) && { passkeys: { count, href: '/settings/passkeys' } }),
      ...(factors.preference !== 'none' && {
        recoveryCodes: { left: factors.recoveryCodesLeft, href: codesPath },
      }),
    });
};
