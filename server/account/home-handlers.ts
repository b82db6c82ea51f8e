import { SettingsHome } from '../../views/account/account-home.tsx';
import { type SettingsTab, settingsTabs } from '../../views/account/tabs.ts';
import { getPageUser } from '../http/index.ts';
import { requireUser, type UserRequest } from '../sign-in/index.ts';
import { mapUserData, profileFieldNames, toPageUser } from '../users/index.ts';
import type { AccountDeps } from './deps.ts';
import { homeCards } from './home-cards.ts';
import { findNotice } from './notices.ts';
import { picturePath } from './profile/picture-handlers.ts';
import type { PageRoute } from './settings-page.ts';

const path = '/settings';

/** The stored data, each with a link to its form (the specification's 'Security Settings'). */
async function show(r: UserRequest, deps: AccountDeps) {
  const { user } = r;
  const notice = r.takeNotice(findNotice);
  const expected = r.query('tab');
  const tab = settingsTabs.find((one) => one === expected) ?? notice?.tab ?? 'sign-in';
  const cardsAt = async (place: 'top' | SettingsTab) => {
    const cards = await Promise.all(homeCards[place].map((source) => source(r, deps)));
    return cards.filter((card) => card !== undefined);
  };
  const [top, more] = await Promise.all([cardsAt('top'), cardsAt(tab)]);
  r.render(
    SettingsHome,
    {
      user: {
        ...user,
        userData: mapUserData((name) => user[name]),
        withheld: profileFieldNames.filter((name) => deps.withheldFields.has(name)),
      },
      avatar: getPageUser(r.req)?.member ?? toPageUser({ ...user, imageName: '' }, undefined),
      tab,
      ...(deps.uploadsBaseUrl !== undefined && { pictureHref: picturePath }),
      ...(notice && { notice: r.t(notice.text) }),
      top,
      more,
    },
    { title: 'settings.title', address: `${path}?tab=${tab}` },
  );
}

export const homePage: PageRoute = { path, get: requireUser(show) };
