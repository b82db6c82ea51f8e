import { createElement } from 'react';
import { connectedAppsPath } from '../../../views/account/connected-apps-page.tsx';
import { providersHref } from '../../../views/account/providers-page.tsx';
import { SignInCard } from '../../../views/account/sign-in-card.tsx';
import { listIdentities, providerName } from '../../federation/index.ts';
import { listAuthenticators } from '../../mfa/index.ts';
import { countPasskeys } from '../../passkeys/index.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { codesPath } from '../paths.ts';

/** The Sign-in card: the password, passkeys, linked accounts, and the number of recovery codes. */
export const signInCard: HomeCardSource = async ({ user }, { database, passkeys, federation, connectedApps }) => {
  const [count, links, factors, apps] = await Promise.all([
    countPasskeys(database.db, user.id),
    listIdentities(database.db, user.id),
    listAuthenticators(database, user),
    connectedApps.list(user.id),
  ]);
  const { providers } = federation;
  const names = [...new Set(links.map((link) => providerName(providers, link)))];
  return (ctx) =>
    createElement(SignInCard, {
      ctx,
      hasPassword: user.passwordHash !== null,
      // If passkeys became unsupported because the address changed, the old ones can still be removed.
      ...((passkeys || count > 0) && { passkeys: { count, href: '/settings/passkeys' } }),
      ...((providers.all.length > 0 || links.length > 0) && { linked: { names, href: providersHref } }),
      apps: { count: apps.length, href: connectedAppsPath },
      ...(factors.preference !== 'none' && {
        recoveryCodes: { left: factors.recoveryCodesLeft, href: codesPath },
      }),
    });
};
