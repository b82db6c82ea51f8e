import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext, PageUser } from '../page-context.ts';
import { Script } from '../parts/script.tsx';
import { Snackbar } from '../parts/snackbar.tsx';
import { TabsView } from '../parts/tabs.tsx';
import { cardsInOrder, type HomeCard } from './home-card.tsx';
import { NameCard } from './name-card.tsx';
import { panelAddress, panelId, type SettingsTab, settingsTabs } from './tabs.ts';
import type { UserData } from './user-data.ts';
import { UserDataCard } from './user-data-card.tsx';

/** The user's data on the home. Times in milliseconds since the epoch. */
interface SettingsMember {
  givenName: string;
  familyName: string;
  userData: UserData;
  /** Fields of the user data that are not shown. */
  withheld?: readonly string[];
  createdAt: number;
}

interface SettingsHomeProps {
  ctx: PageContext;
  user: SettingsMember;
  avatar: Pick<PageUser, 'initials' | 'pictureUrl'>;
  /** Where the picture is changed; undefined: it cannot be. */
  pictureHref?: string;
  tab: SettingsTab;
  /** The notice about the last action. */
  notice?: string;
  /** Above everything: decisions that wait for the user. */
  top: readonly HomeCard[];
  /** The other subjects' cards in the shown panel. */
  more: readonly HomeCard[];
}

const tabNames = {
  'sign-in': 'settings.tabs.signIn',
  'user-data': 'settings.tabs.userData',
  'device-data': 'settings.tabs.device',
  'mfa-data': 'settings.tabs.mfa',
} as const satisfies Record<SettingsTab, string>;

/** 'Security Settings' (specification, section 2): the user, and one of four panels of stored data. */
export function SettingsHome({ ctx, user, avatar, pictureHref, tab, notice, top, more }: SettingsHomeProps) {
  const { t } = ctx;
  return (
    <AccountLayout ctx={ctx} at="security" heading={t('settings.title')} before={cardsInOrder(ctx, top)}>
      <Script ctx={ctx} entry="busy" />
      <NameCard ctx={ctx} avatar={avatar} pictureHref={pictureHref} {...user} sinceMs={user.createdAt} />
      {/* Each panel is a separate page, so that a page only reads and sends its own data. */}
      <TabsView
        label={t('settings.tabs.label')}
        chosen={panelId(tab)}
        tabs={settingsTabs.map((name) => ({
          panel: panelId(name),
          label: t(tabNames[name]),
          href: panelAddress(name),
        }))}
      />
      <div className="stack" id={panelId(tab)}>
        {tab === 'user-data' && <UserDataCard ctx={ctx} data={user.userData} withheld={user.withheld} />}
        {cardsInOrder(ctx, more)}
      </div>
      {notice !== undefined && <Snackbar ctx={ctx} kind="success" text={notice} duration="profile" />}
    </AccountLayout>
  );
}
