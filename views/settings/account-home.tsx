import { Fragment, type ReactElement, type ReactNode } from 'react';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext, PageUser } from '../page-context.ts';
import { Script } from '../parts/script.tsx';
import { Snackbar } from '../parts/snackbar.tsx';
import { TabsView } from '../parts/tabs.tsx';
import { ContactCard } from './contact-card.tsx';
import { NameCard } from './name-card.tsx';
import { panelAddress, panelId, type SettingsTab, settingsTabs } from './tabs.ts';
import { UserDataCard } from './user-data-card.tsx';

/** What the home shows of a member. Times in milliseconds since the epoch. */
export interface SettingsMember {
  givenName: string;
  familyName: string;
  email: string;
  emailVerified: boolean;
  phone: string | null;
  phoneVerified: boolean;
  /** False: they sign in by a provider or a passkey. */
  hasPassword: boolean;
  mfaPreference: 'none' | 'sms' | 'totp';
  acceptedTosVersion: number | null;
  acceptedTosAt: number | null;
  /** ISO 8601 date. */
  birthdate: string | null;
  gender: string;
  address: string | null;
  companyName: string | null;
  jobTitle: string | null;
  newsletter: boolean;
  locale: string | null;
  createdAt: number;
}

export interface SettingsHomeProps {
  ctx: PageContext;
  user: SettingsMember;
  avatar: Pick<PageUser, 'initials' | 'pictureUrl'>;
  /** Those in force. */
  terms: { number: number; label: string };
  tab: SettingsTab;
  /** What has just been done. */
  notice?: string;
  /** Above everything: what waits for the member's decision. */
  top: readonly ReactElement[];
  /** The other subjects' cards in the panel that is shown. */
  more: readonly ReactElement[];
}

const tabNames = {
  'sign-in': 'settings.tabs.signIn',
  'user-data': 'settings.tabs.userData',
  'device-data': 'settings.tabs.device',
  'mfa-data': 'settings.tabs.mfa',
} as const satisfies Record<SettingsTab, string>;

/** Each by its place: they have nothing else that tells them apart. */
const inOrder = (cards: readonly ReactElement[]) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: they never change their places
  cards.map((card, place) => <Fragment key={place}>{card}</Fragment>);

/** 'Security Settings' (specification, section 2): who it is, and one of four panels of what is stored. */
export function SettingsHome({ ctx, user, avatar, terms, tab, notice, top, more }: SettingsHomeProps) {
  const { t } = ctx;
  const { acceptedTosVersion: version, acceptedTosAt } = user;
  const accepted = version === null ? null : { label: versionLabel(version, terms), acceptedAtMs: acceptedTosAt };
  const first: Partial<Record<SettingsTab, ReactNode>> = {
    'sign-in': <ContactCard ctx={ctx} {...user} terms={accepted} />,
    'user-data': <UserDataCard ctx={ctx} {...user} />,
  };
  return (
    <AccountLayout ctx={ctx} at="security" heading={t('settings.title')} before={inOrder(top)}>
      <Script ctx={ctx} entry="busy" />
      <NameCard ctx={ctx} avatar={avatar} {...user} sinceMs={user.createdAt} />
      {/* Each panel is a page of its own, so that a page reads and sends only what it shows. */}
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
        {first[tab]}
        {inOrder(more)}
      </div>
      {notice !== undefined && <Snackbar ctx={ctx} kind="success" text={notice} duration="profile" />}
    </AccountLayout>
  );
}

/** Only those in force have a label that is known. */
const versionLabel = (version: number, inForce: { number: number; label: string }) =>
  version === inForce.number ? inForce.label : String(version);
