import { createElement } from 'react';
import { connectedAppsPath } from '../../../views/account/connected-apps-page.tsx';
import { providersHref } from '../../../views/account/providers-page.tsx';
import { ConnectedAppsCard, SignInCard } from '../../../views/account/sign-in-card.tsx';
import { listIdentities, providerName } from '../../federation/index.ts';
import { formatNumber } from '../../messages/index.ts';
import { countPasskeys } from '../../passkeys/index.ts';
import type { HomeCardSource } from '../home-card-source.ts';

/** The sign-in information: contact data, the password, passkeys and linked accounts. */
export const signInCard: HomeCardSource = async ({ user }, { database, passkeys, federation }) => {
  const [phone, count, links] = await Promise.all([
    user.phone && formatNumber(user.phone),
    countPasskeys(database.db, user.id),
    listIdentities(database.db, user.id),
  ]);
  const { email, emailVerified, phoneVerified, passwordHash, passwordChangedAt } = user;
  const { providers } = federation;
  const names = [...new Set(links.map((link) => providerName(providers, link)))];
  return (ctx) =>
    createElement(SignInCard, {
      ctx,
      email,
      emailVerified,
      phone,
      phoneVerified,
      ...(passwordHash !== null && { password: { changedAtMs: passwordChangedAt } }),
      // If passkeys became unsupported because the address changed, the old ones can still be removed.
      ...((passkeys || count > 0) && { passkeys: { count, href: '/settings/passkeys' } }),
      ...((providers.all.length > 0 || links.length > 0) && { linked: { names, href: providersHref } }),
    });
};

export const connectedAppsCard: HomeCardSource = async ({ user }, { connectedApps }) => {
  const { length: count } = await connectedApps.list(user.id);
  return (ctx) => createElement(ConnectedAppsCard, { ctx, count, href: connectedAppsPath });
};
