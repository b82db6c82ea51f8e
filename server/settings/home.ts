import { createElement } from 'react';
import { SettingsHome } from '../../views/settings/settings-home.tsx';
import { type SettingsTab, settingsTabs } from '../../views/settings/tabs.ts';
import { pageMember } from '../account/index.ts';
import { query } from '../http/index.ts';
import { readableNumber } from '../messages/index.ts';
import { cards } from './cards.ts';
import type { SettingsDeps } from './deps.ts';
import type { MemberHandler } from './guard.ts';
import { noticeOf } from './notices.ts';

/** GET /settings: what is stored, each with the way to change it (the specification's 'Security Settings'). */
export function settingsHome(deps: SettingsDeps): MemberHandler {
  return async (req, res, member) => {
    const { user } = member;
    const phone = user.phone && (await readableNumber(user.phone));
    const notice = noticeOf(query(req, 'notice'));
    const wanted = query(req, 'tab');
    const tab = settingsTabs.find((one) => one === wanted) ?? notice?.tab ?? 'sign-in';
    const cardsAt = async (place: 'top' | SettingsTab) => {
      const drawn = await Promise.all(cards[place].map((source) => source(deps, req, member)));
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
          avatar: ctx.member ?? pageMember({ ...user, imageName: '' }, undefined),
          terms: deps.terms,
          tab,
          ...(notice && { notice: ctx.t(notice.text) }),
          top: top.map((draw) => draw(ctx)),
          more: inPanel.map((draw) => draw(ctx)),
        }),
      // What was just done is not said again in another language.
      { title: (ctx) => ctx.t('settings.title'), address: `/settings?tab=${tab}` },
    );
  };
}
