import { PublicNav } from '../../../views/layout/header.tsx';
import { SubHeader } from '../../../views/layout/sub-header.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { Breadcrumb } from '../../../views/parts/breadcrumb.tsx';
import { ProfileMenu } from '../../../views/parts/profile-menu.tsx';
import { SideMenu } from '../../../views/parts/side-menu.tsx';
import { Stepper } from '../../../views/parts/stepper.tsx';
import { Tabs } from '../../../views/parts/tabs.tsx';
import { textsFor } from '../../texts.ts';

const steps = ['profile', 'security', 'plan'] as const;

function Headers({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const member = { name: 'Vera Lindqvist', email: 'vera@example.com', initials: 'VL' };
  const signUp = { ...ctx.links, signUp: ctx.links.signUp ?? '#sign-up' };
  return (
    <>
      <section className="specimens">
        <h3>{t('parts.names.publicNav')}</h3>
        <PublicNav ctx={{ ...ctx, links: signUp }} label={t('parts.names.publicNav')} />
      </section>
      <section className="specimens">
        <h3>{t('parts.names.profileMenu')}</h3>
        <div className="specimen-menu">
          <ProfileMenu ctx={ctx} member={member} signOutAction="/sandbox/parts" />
        </div>
      </section>
      <section className="specimens">
        <h3>{t('parts.names.subHeader')}</h3>
        <SubHeader ctx={ctx} backHref="#top" at="shortlist" />
      </section>
    </>
  );
}

export function NavigationParts({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const names = steps.map((step) => t(`common.steps.${step}`));
  const tabs = ['signIn', 'user', 'device', 'mfa'] as const;
  return (
    <>
      <Headers ctx={ctx} />
      <section className="specimens">
        <h3>{t('parts.names.tabs')}</h3>
        <Tabs
          ctx={ctx}
          label={t('parts.names.tabs')}
          chosen="tab-user"
          tabs={tabs.map((tab) => ({ panel: `tab-${tab}`, href: `#tab-${tab}`, label: t(`parts.tabs.${tab}`) }))}
        />
        {tabs.map((tab) => (
          <p key={tab} id={`tab-${tab}`} hidden={tab !== 'user'}>
            {t(`parts.tabs.${tab}`)}
          </p>
        ))}
      </section>
      <section className="specimens">
        <h3>{t('parts.names.stepper')}</h3>
        <div className="stack">
          {steps.map((step, current) => (
            <Stepper key={step} t={t} label={t('common.steps.label')} steps={names} current={current} />
          ))}
        </div>
      </section>
      <section className="specimens">
        <h3>{t('parts.names.breadcrumb')}</h3>
        <Breadcrumb
          label={t('common.breadcrumb')}
          path={[{ href: '#account', label: t('common.menu.account') }, { label: t('common.menu.security') }]}
        />
      </section>
      <section className="specimens">
        <h3>{t('parts.names.sideMenu')}</h3>
        <SideMenu
          label={t('common.menu.account')}
          links={(['profile', 'wallet', 'team', 'membership', 'paymentMethods', 'security'] as const).map((name) => ({
            href: `#menu-${name}`,
            label: t(`common.menu.${name}`),
            current: name === 'security',
          }))}
        />
      </section>
    </>
  );
}
