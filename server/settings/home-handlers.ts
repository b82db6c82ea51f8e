import { createElement } from 'react';
import { SettingsHome } from '../../views/settings/account-home.tsx';
import { type SettingsTab, settingsTabs } from '../../views/settings/tabs.ts';
import { readQueryParam } from '../http/index.ts';
import { formatNumber } from '../messages/index.ts';
import { toPageUser } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { homeCards } from './home-cards.ts';
import { findNotice } from './notices.ts';
import type { MemberHandler } from './require-recent-auth.ts';

/** GET /settings: the stored data, each with a link to its form (the specification's 'Security Settings'). */
export function accountHome(deps: AccountDeps): MemberHandler {
  return async (req, res, member) => {
    const { user } = member;
    const phone = user.phone && (await formatNumber(user.phone));
    const notice = findNotice(readQueryParam(req, 'notice'));
    const expected = readQueryParam(req, 'tab');
    const tab = settingsTabs.find((one) => one === expected) ?? notice?.tab ?? 'sign-in';
    const cardsAt = async (place: 'top' | SettingsTab) => {
      const drawn = await Promise.all(homeCards[place].map((source) => source(deps, req, member)));
      return drawn.filter((draw) => draw !== undefined);
    };
    const [top, inPanel] = await Promise.all([cardsAt('top'), cardsAt(tab)]);
    deps.pages.send(
      req,
      res,
      200,
      (ctx) =>
        createElement(SettingsHome, {
          ctx,
          user: { ...user, phone, hasPassword: user.passwordHash !== null },
          avatar: ctx.member ?? toPageUser({ ...user, imageName: '' }, undefined),
          terms: deps.terms,
          tab,
          ...(notice && { notice: ctx.t(notice.text) }),
          top: top.map((draw) => draw(ctx)),
          more: inPanel.map((draw) => draw(ctx)),
        }),
      // A change of language does not repeat the notice.
      { title: (ctx) => ctx.t('settings.title'), address: `/settings?tab=${tab}` },
    );
  };
}
