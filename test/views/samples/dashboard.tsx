import { DashboardPage } from '../../../views/oidc/dashboard-page.tsx';
import { NotInPlanPage } from '../../../views/oidc/plan-required-page.tsx';
import type { PageContext } from '../../../views/page-context.ts';
import { member, type Sample } from './context.ts';

/** The dashboard, and the page of a client app for other plans. */
export function dashboardSamples(ctx: PageContext): Record<string, Sample> {
  const apps = [
    {
      id: 'academy',
      name: 'Academy & <Friends>',
      logoUrl: 'https://cdn.example/a.png',
      href: 'https://a.example/in',
      host: 'a.example',
    },
    { id: 'pro', name: 'Pro', limitedHref: '/not-in-plan?client_id=pro' },
    { id: 'tv', name: 'Television' },
  ];
  const limited = {
    ctx,
    clientId: 'academy',
    clientName: 'Academy & <Friends>',
    memberEmail: member.email,
    compareHref: '/plan-purchase',
    otherAccountHref: '/?forceAuth=true',
    dashboardHref: '/dashboard',
  };
  const plans = [{ name: 'Growth', price: '$499 a month', href: '/plan-purchase/12' }];
  const back = { action: '/not-in-plan', fields: { authorization_code: 'x8Zr3' } };
  return {
    dashboard: { page: <DashboardPage ctx={ctx} apps={apps} /> },
    'dashboard-empty': { page: <DashboardPage ctx={ctx} apps={[]} /> },
    'dashboard-searched': { page: <DashboardPage ctx={ctx} apps={apps} searchText={'a"<b'} /> },
    'dashboard-searched-for-nothing': { page: <DashboardPage ctx={ctx} apps={[]} searchText={'a"<b'} /> },
    'dashboard-not-loaded': { page: <DashboardPage ctx={ctx} apps={undefined} /> },
    'not-in-plan': { page: <NotInPlanPage {...limited} currentPlan="Starter" plans={plans} back={back} /> },
    'not-in-any-plan': { page: <NotInPlanPage {...limited} clientLogo="https://cdn.example/a.png" plans={[]} /> },
  };
}
